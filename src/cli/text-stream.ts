/**
 * The model's text as it streams in.
 *
 * @module
 */
import { harmless } from './harmless.ts';
import { type Output } from './io.ts';

/** Writes text in pieces. On a terminal it is made harmless; a file gets it as it is. */
export class TextStream {
  readonly #output: Output;
  /** What was written of this turn. */
  #streamed = '';
  /** Half a character, whose other half is in the next piece. */
  #half = '';
  #atLineStart = true;

  constructor(output: Output) {
    this.#output = output;
  }

  /** Whether the terminal's cursor is at the beginning of a line; text that goes elsewhere moves no cursor. */
  get atLineStart(): boolean {
    return this.#atLineStart || !this.#output.terminal;
  }

  add(piece: string): void {
    this.#streamed += piece;
    const text = this.#half + piece;
    this.#half = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : '';
    this.#write(text.slice(0, text.length - this.#half.length));
  }

  /**
   * Ends the turn.
   *
   * @param content is what counts: where it isn't what streamed (nothing did, or an attempt broke off),
   * it is written whole. Undefined if there is no turn.
   */
  end(content: string | undefined): void {
    this.#write(this.#half);
    if (content !== undefined && content !== this.#streamed) {
      this.#newLine();
      this.#write(content);
    }
    this.#newLine();
    this.#streamed = '';
    this.#half = '';
  }

  /** Makes room on the screen for something else. */
  endLine(): void {
    if (!this.atLineStart) this.#newLine();
  }

  #write(text: string): void {
    if (text === '') return;
    this.#output.write(this.#output.terminal ? harmless(text) : text);
    this.#atLineStart = text.endsWith('\n');
  }

  #newLine(): void {
    if (!this.#atLineStart) this.#output.write('\n');
    this.#atLineStart = true;
  }
}
