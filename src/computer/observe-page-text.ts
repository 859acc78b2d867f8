/// <reference lib="dom" />
/**
 * What a page says, in reading order. Runs in the page.
 *
 * @module
 */
import { type PageLimits } from './playwright-limits.ts';

/** A part of the text, or undefined for a frame. */
interface Part {
  readonly text: string | undefined;
  readonly modal: Element | undefined;
}

/**
 * Gathers text as it is shown, cut where the frames are.
 *
 * A class, because its source is all that reaches the page: it refers to nothing but itself.
 */
export class PageText {
  readonly #limits: PageLimits;
  #parts: Part[] = [];
  /** UTF-16 units of each modal dialog, and of the page: none takes the room of another. */
  readonly #lengths = new Map<Element | undefined, number>();

  constructor(limits: PageLimits) {
    this.#limits = limits;
  }

  /** Goes on with a text. @param modal the modal dialog that it is in. */
  say(text: string, modal: Element | undefined): void {
    const length = this.#lengths.get(modal) ?? 0;
    // Most of it may be white space, which is folded.
    if (text === '' || length > 4 * this.#limits.text) return;
    this.#lengths.set(modal, length + text.length);
    this.#parts.push({ text, modal });
  }

  /** Here is a frame. */
  cut(modal: Element | undefined): void {
    this.#parts.push({ text: undefined, modal });
  }

  /** What is behind a modal dialog isn't read out. */
  keep(topmost: Element): void {
    this.#parts = this.#parts.filter(({ modal }) => modal === topmost);
  }

  /** All that was said: one text more than there are frames. */
  texts(): string[] {
    const texts = [''];
    for (const { text } of this.#parts) {
      if (text === undefined) texts.push('');
      else texts[texts.length - 1] += text;
    }
    this.#parts = [];
    return texts;
  }

  /** A text with its white space as it is shown. */
  asShown({ data }: Text, style: CSSStyleDeclaration): string {
    if (!/\s{2}|[^\S ]/u.test(data)) return data;
    const keepsLines = style.whiteSpaceCollapse?.startsWith('preserve') ?? false;
    return keepsLines ? data : data.replaceAll(/\s+/gu, ' ');
  }

  /** What is between the text of an element and that around it. */
  gapOf(display: string): string {
    if (display === 'inline' || display === 'contents') return '';
    return display.startsWith('inline') || display === 'table-cell' ? ' ' : '\n';
  }
}
