/**
 * Reads a source from its start to its end through one buffer.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises';

/** Fills the buffer from a place in the source; 0 at its end. */
export type Read = (into: Uint8Array, position: number) => number | Promise<number>;

/** 1 MiB: larger buffers fall out of the processor's cache and read slower (measured). */
const PIECE_BYTES = 1024 * 1024;
/** Most files are small, and a large buffer takes longer to clear than they take to read (measured). */
const FIRST_BYTES = 32 * 1024;

/**
 * Synchronous reads are about twice as fast as asynchronous ones, but nothing else runs meanwhile. So the
 * event loop gets a turn after this many bytes, which verification takes about 50 ms for.
 */
const BYTES_PER_TURN = 16 * 1024 * 1024;

/** The source's bytes, up to `limit`. A piece is only lent until the next is asked for: its buffer is used again. */
export async function* pieces(read: Read, limit: number = Infinity): AsyncGenerator<Uint8Array> {
  let buffer = new Uint8Array(Math.min(FIRST_BYTES, limit));
  let position = 0;
  let turn = 0;
  while (position < limit) {
    const room = limit - position;
    const got = read(room < buffer.length ? buffer.subarray(0, room) : buffer, position);
    const length = typeof got === 'number' ? got : await got;
    if (length === 0) return;
    position += length;
    yield buffer.subarray(0, length);
    if (length === buffer.length && length < PIECE_BYTES) {
      buffer = new Uint8Array(Math.min(PIECE_BYTES, limit));
    }
    if (position - turn >= BYTES_PER_TURN) {
      turn = position;
      await setImmediate();
    }
  }
}
