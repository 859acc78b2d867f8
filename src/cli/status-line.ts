/**
 * One line at the bottom of a terminal that is redrawn in place.
 *
 * @module
 */
import { type Output } from './io.ts';

const REDRAW_MS = 250;

/** A status line. Nothing of it is left when it is hidden. */
export class StatusLine {
  readonly #output: Output;
  readonly #text: () => string;
  #timer: NodeJS.Timeout | undefined;
  #drawn = false;

  /** @param text makes the line anew; plain characters of width 1. */
  constructor(output: Output, text: () => string) {
    this.#output = output;
    this.#text = text;
  }

  /** Draws it, and keeps it up to date. The cursor must be at the beginning of an empty line. */
  show(): void {
    if (!this.#output.terminal) return;
    this.#draw();
    this.#timer ??= setInterval(() => this.#draw(), REDRAW_MS);
  }

  /** Erases it; the cursor is back at the beginning of the line. */
  hide(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.#drawn) this.#output.write('\r\u001b[2K');
    this.#drawn = false;
  }

  #draw(): void {
    // One column less: some terminals wrap when the last one is written.
    const text = this.#text().slice(0, this.#output.columns - 1);
    this.#output.write(`\r\u001b[2K${this.#output.style('quiet', text)}`);
    this.#drawn = true;
  }
}
