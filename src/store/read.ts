/**
 * Reads the records of a transcript back.
 *
 * @module
 */
import { constants } from 'node:fs';
import { TextDecoder } from 'node:util';
import { MAX_LINE_BYTES, parseRecord, type TranscriptRecord } from '../transcript/index.ts';
import { nodeFileSystem } from './filesystem.ts';
import { pieces } from './pieces.ts';
import { pathText } from './place.ts';
import { messageOf, openError, readError } from './store-errors.ts';
import { type TranscriptStore } from './store.ts';

/**
 * The records of the complete lines of a transcript, in order; an unfinished last line is left out. It
 * reads, and does not verify: use `verifyFile` for that. Values keep their spelling, so encoding a record
 * again gives the same line.
 *
 * @throws {SyntaxError} at the first line that isn't a record; it names the line.
 * @throws {StoreError} `missing` or `failed` if the file can't be opened or read.
 * @throws {TypeError} if the path is empty, or a URL of another scheme than `file:`.
 */
export async function* readRecords(
  from: TranscriptStore | string | URL,
): AsyncGenerator<TranscriptRecord> {
  yield* recordsIn(typeof from === 'string' || from instanceof URL ? readPath(from) : from.read());
}

/** The records in the bytes of a transcript, as {@link readRecords} gives them. */
export async function* recordsIn(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<TranscriptRecord> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let number = 0;
  for await (const line of lines(source)) {
    number += 1;
    if (line === null) throw new SyntaxError(`line ${number}: over ${MAX_LINE_BYTES} bytes`);
    yield readLine(line, number, decoder);
  }
}

function readLine(line: Uint8Array, number: number, decoder: TextDecoder): TranscriptRecord {
  try {
    return parseRecord(decoder.decode(line));
  } catch (error) {
    throw new SyntaxError(`line ${number}: ${messageOf(error)}`, { cause: error });
  }
}

async function* readPath(path: string | URL): AsyncGenerator<Uint8Array> {
  const text = pathText(path);
  const file = await nodeFileSystem.open(text, constants.O_RDONLY).catch((error: unknown) => {
    throw openError(text, error);
  });
  try {
    yield* pieces((into, position) => file.read(into, position));
  } catch (error) {
    throw readError(text, error);
  } finally {
    // A file that was only read has nothing to lose when closing it fails.
    await file.close().catch(() => undefined);
  }
}

/**
 * The complete lines without their newline; null for one that is too long. Lines end at 0x0A and at
 * nothing else. They are only lent until the next is asked for.
 */
export async function* lines(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array | null> {
  // The pieces of a line that began in an earlier piece, as far as it isn't too long.
  let begun: Uint8Array[] = [];
  let length = 0;
  for await (const piece of source) {
    let start = 0;
    for (let end = piece.indexOf(0x0a); end !== -1; end = piece.indexOf(0x0a, start)) {
      const rest = piece.subarray(start, end);
      if (length + rest.length > MAX_LINE_BYTES) yield null;
      else yield begun.length === 0 ? rest : Buffer.concat([...begun, rest]);
      begun = [];
      length = 0;
      start = end + 1;
    }
    if (start === piece.length) continue;
    length += piece.length - start;
    // Pieces are only lent, and a Buffer's `slice` is no copy.
    if (length > MAX_LINE_BYTES) begun = [];
    else begun.push(new Uint8Array(piece.subarray(start)));
  }
}
