/**
 * Output of any length in bounded memory: its beginning and its end.
 *
 * @module
 */

/** Errors tend to stand at the end, so more of it is kept. */
const HEAD_BYTES = 8192;
const TAIL_BYTES = 24_576;

/** Takes bytes as they come, and keeps the first and the last of them. */
export class CappedText {
  #head = Buffer.alloc(0);
  #tail = Buffer.alloc(0);
  #leftOut = 0;

  /** How many bytes in the middle were dropped. */
  get leftOut(): number {
    return this.#leftOut;
  }

  add(bytes: Buffer): void {
    const room = HEAD_BYTES - this.#head.length;
    if (room > 0) this.#head = Buffer.concat([this.#head, bytes.subarray(0, room)]);
    const rest = Buffer.concat([this.#tail, bytes.subarray(Math.max(0, room))]);
    const over = Math.max(0, rest.length - TAIL_BYTES);
    this.#leftOut += over;
    this.#tail = rest.subarray(over);
  }

  /** What was kept. Where bytes were dropped a line says how many; what isn't UTF-8 becomes U+FFFD. */
  text(): string {
    if (this.#leftOut === 0) return Buffer.concat([this.#head, this.#tail]).toString('utf8');
    const head = this.#head.toString('utf8').replace(/\ufffd+$/, '');
    const tail = this.#tail.toString('utf8').replace(/^\ufffd+/, '');
    return `${head}\n[… ${this.#leftOut} bytes left out …]\n${tail}`;
  }
}
