/**
 * Damage to a transcript, as an attacker or a crash would do it: for tests of what keeps or checks
 * transcripts.
 *
 * Every function takes a transcript's bytes, leaves them alone and returns others. They work on whole
 * lines, not on what those say, so damage can be done on top of damage. A place that isn't there is a
 * `RangeError`: a test that damages nothing would prove nothing.
 *
 * @module
 */
import { Buffer } from 'node:buffer';
import {
  advance,
  EMPTY_HEAD,
  encodeRecord,
  parseRecord,
  type Draft,
  type Head,
} from '../transcript/index.ts';

const NEWLINE = 0x0a;

/** Flips the lowest bit of the byte at `at`. */
export function flipByte(bytes: Uint8Array, at: number): Uint8Array {
  checkPlace(at, bytes.length, 'byte');
  const out = Uint8Array.from(bytes);
  out[at] = (out[at] ?? 0) ^ 1;
  return out;
}

/** Takes a record out. */
export function dropRecord(bytes: Uint8Array, seq: number): Uint8Array {
  const lines = split(bytes);
  checkPlace(seq, lines.length, 'record');
  return join(lines.toSpliced(seq, 1));
}

/** Exchanges two records. */
export function swapRecords(bytes: Uint8Array, a: number, b: number): Uint8Array {
  const lines = split(bytes);
  const [first, second] = [lineAt(lines, a), lineAt(lines, b)];
  if (a === b) throw new RangeError(`records ${a} and ${b} are the same one`);
  return join(lines.with(a, second).with(b, first));
}

/**
 * Replaces a record's payload by what `edit` makes of it. With `rehash` the record gets the hash of its
 * new content and all that follow are linked anew, as somebody who rewrites a whole file does: the chain is intact, and
 * only what is known from elsewhere (a head, a signature) can tell. Without, the hash stays as it was.
 *
 * @throws {SyntaxError} if a line that it must read isn't a record.
 */
export function editPayload(
  bytes: Uint8Array,
  seq: number,
  edit: (payload: Draft['payload']) => Draft['payload'],
  options: { readonly rehash?: boolean } = {},
): Uint8Array {
  const lines = split(bytes);
  const { kind, payload, prev, hash } = parseRecord(textOf(lineAt(lines, seq)));
  const draft = { kind, payload: edit(payload) };
  let head: Head = { ...EMPTY_HEAD, count: seq, hash: prev };
  const line = encodeRecord(head, draft);
  if (options.rehash !== true) {
    const stale = line.text.replace(`{"hash":"${line.hash}"`, `{"hash":"${hash}"`);
    return join(lines.with(seq, Buffer.from(stale)));
  }
  head = advance(line);
  const relinked = lines.slice(seq + 1).map((later) => {
    const next = encodeRecord(head, parseRecord(textOf(later)));
    head = advance(next);
    return Buffer.from(next.text);
  });
  return join([...lines.slice(0, seq), Buffer.from(line.text), ...relinked]);
}

/** Appends the last record once more, as a writer that retries blindly does. */
export function duplicateLast(bytes: Uint8Array): Uint8Array {
  const lines = split(bytes);
  return join([...lines, lineAt(lines, lines.length - 1)]);
}

/** Keeps the first `count` records. */
export function truncateRecords(bytes: Uint8Array, count: number): Uint8Array {
  const lines = split(bytes);
  checkPlace(count, lines.length, 'record');
  return join(lines.slice(0, count));
}

/** Cuts bytes off the end, as a crash in the middle of a write does. */
export function tear(bytes: Uint8Array, cutBytes: number): Uint8Array {
  checkPlace(cutBytes - 1, bytes.length, 'byte');
  return bytes.slice(0, bytes.length - cutBytes);
}

/** Fills the last bytes with NULs, as some file systems do after a crash. */
export function zeroTail(bytes: Uint8Array, count: number): Uint8Array {
  checkPlace(count - 1, bytes.length, 'byte');
  return Uint8Array.from(bytes).fill(0, bytes.length - count);
}

/** Puts an empty line before a record; `seq` may be the number of records, for the end. */
export function insertBlankLine(bytes: Uint8Array, seq: number): Uint8Array {
  const lines = split(bytes);
  checkPlace(seq, lines.length + 1, 'record');
  return join(lines.toSpliced(seq, 0, Buffer.from('\n')));
}

/** Ends every line as Windows does, as a checkout or an editor may. */
export function crlf(bytes: Uint8Array): Uint8Array {
  return join(
    split(bytes).map((line) =>
      line.at(-1) === NEWLINE ? Buffer.concat([line.subarray(0, -1), Buffer.from('\r\n')]) : line,
    ),
  );
}

/** Puts a byte order mark before the file, as some editors do. */
export function addBom(bytes: Uint8Array): Uint8Array {
  return join([Buffer.from('\uFEFF'), bytes]);
}

/** Lines with their newline; the last may lack it. */
function split(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline < 0 ? bytes.length : newline + 1;
    lines.push(bytes.subarray(start, end));
    start = end;
  }
  return lines;
}

function join(lines: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(lines));
}

function textOf(line: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(line);
}

function lineAt(lines: readonly Uint8Array[], seq: number): Uint8Array {
  const line = lines[seq];
  if (line === undefined) throw missing(seq, lines.length, 'record');
  return line;
}

function checkPlace(at: number, length: number, what: string): void {
  if (!Number.isInteger(at) || at < 0 || at >= length) throw missing(at, length, what);
}

function missing(at: number, length: number, what: string): RangeError {
  return new RangeError(`there is no ${what} ${at}: there are ${length}, counted from 0`);
}
