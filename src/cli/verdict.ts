/**
 * What `verify` and `show` have in common: a file's verdict, and what it means in plain words.
 *
 * @module
 */
import { open, type FileHandle } from 'node:fs/promises';
import { pieces, type Read } from '../store/pieces.ts';
import { codeOf } from '../store/store-errors.ts';
import { type AuditVerdict } from '../computer/audit-verdict.ts';
import { createAuditVerifier, type AuditVerifier } from '../computer/audit-verify.ts';
import {
  createVerifier,
  isJsonObject,
  parseJson,
  unreadable,
  type Fault,
  type Reason,
  type Verdict,
  type Verifier,
} from '../transcript/index.ts';
import { type EvidenceReason } from '../attest/compare.ts';
import { EVIDENCE_MEANINGS } from './evidence-words.ts';
import { type Style } from './io.ts';
import { count, datesInWords, oneLine, problemOf } from './words.ts';

/** A fault of the chain, or of what the evidence says. */
export type AnyReason = Reason | EvidenceReason;

/** Such a fault. */
export type AnyFault = Omit<Fault, 'reason'> & {
  readonly reason: AnyReason;
  /** Whether of all that was there only the end of the last line is gone. */
  readonly torn?: true;
  /** What to do if it was done on purpose, as the end of a sentence. */
  readonly undo?: string;
};

/** What was found about a file, or why it couldn't be graded; a file of another kind has no verdict. */
export type Judged<V = Verdict | AuditVerdict> =
  | { readonly verdict: V; readonly problem?: undefined }
  | { readonly verdict?: Verdict; readonly problem: string };

/** How a file is read: `push` gives the verifier its pieces, and may look at them. */
export interface Reading {
  readonly verifier: Verifier | AuditVerifier;
  readonly push: (piece: Uint8Array) => void | Promise<void>;
}

/**
 * Verifies a file in one pass: a pipe can't be read twice, and a file may change meanwhile, so whoever
 * shows what was verified looks at the same bytes.
 *
 * @param begin is told, once the first line is there, whether the file is an audit log.
 */
export async function judge(
  file: string,
  begin: (isAudit: boolean) => Reading,
  onProgress?: (done: number, total: number) => void,
): Promise<Judged> {
  let handle: FileHandle | undefined;
  let reading: Reading | undefined;
  const opening = new Opening();
  try {
    handle = await open(file, 'r');
    const { size } = await handle.stat();
    let done = 0;
    for await (const piece of pieces(reader(handle))) {
      done += piece.length;
      onProgress?.(done, size);
      if (reading !== undefined) await reading.push(piece);
      else if (opening.isWhole(piece)) reading = await opening.read(begin);
      if (reading?.verifier.fault !== undefined) break;
    }
    reading ??= await opening.read(begin);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return notRead(accessProblem(file, error));
  } finally {
    // A file that was only read has nothing to lose when closing it fails.
    await handle?.close().catch(() => undefined);
  }
  return { verdict: reading.verifier.end() };
}

/** Verifies a transcript of which only the verdict is wanted; it need not be sealed. */
export async function judgeOpen(file: string): Promise<Judged<Verdict>> {
  const { verdict, problem } = await judge(file, (isAudit) =>
    plainly(isAudit ? createAuditVerifier() : createVerifier({ allowOpen: true })),
  );
  if (problem !== undefined) return notRead(problem);
  return 'log' in verdict ? { problem: AUDIT_LOG } : { verdict };
}

/** Reads a file only to verify it. */
export function plainly(verifier: Verifier | AuditVerifier): Reading {
  return { verifier, push: (piece) => verifier.push(piece) };
}

/** A file's first pieces, until they tell what the file is. */
class Opening {
  readonly #pieces: Uint8Array[] = [];
  #length = 0;

  /** Adds a piece; whether the first line is whole now, or as much of it as is looked at. */
  isWhole(piece: Uint8Array): boolean {
    this.#pieces.push(new Uint8Array(piece));
    this.#length += piece.length;
    return this.#length > OPENING_BYTES || piece.includes(0x0a);
  }

  async read(begin: (isAudit: boolean) => Reading): Promise<Reading> {
    const bytes = Buffer.concat(this.#pieces);
    const newline = bytes.indexOf(0x0a);
    const line = bytes.subarray(0, newline === -1 ? bytes.length : newline).toString();
    const reading = begin(isAuditLog(line));
    await reading.push(bytes);
    return reading;
  }
}

/** Reads on from where the last read ended: a pipe has no other places. */
function reader(file: FileHandle): Read {
  return async (into) => (await file.read(into, 0, into.length, null)).bytesRead;
}

/** What is said about a file that couldn't be read. */
export function notRead(problem: string): Judged<Verdict> {
  return { verdict: unreadable(problem), problem };
}

/** Why a file or folder couldn't be read, and what to do where that is known. */
export function accessProblem(path: string, error: unknown): string {
  const code = codeOf(error);
  // U+FFFD stands for bytes that aren't UTF-8; by such a name nothing is found.
  const advice = path.includes('\ufffd') ? 'rename it: its name is not UTF-8' : 'check the path';
  if (code === 'ENOENT') return `there is no such file; ${advice}`;
  if (code === 'EACCES') return 'you may not read it';
  if (code === 'EISDIR') return 'it is a folder; name one of the files in it';
  return `it can't be read: ${problemOf(error)}`;
}

/** Why an audit log is nothing to replay, diff or resume. */
export const AUDIT_LOG =
  'it is an audit log, no transcript; `hashtape verify` and `hashtape show` read it';

/** A first line up to this length is read to tell what the file is; reading takes many times its size in memory. */
const OPENING_BYTES = 256 * 1024;

/**
 * Audit logs are chained too, but are no transcripts. The first line alone decides: else a line put in
 * anywhere would take an edited transcript out of the grading.
 */
function isAuditLog(line: string): boolean {
  // No transcript's line begins so.
  if (line.length > OPENING_BYTES) return line.startsWith('{"action":"');
  const parsed = parseJson(line.replace(/^\uFEFF/, ''));
  if (!parsed.ok || !isJsonObject(parsed.value)) return false;
  const { index, prev, digest, hash, seq } = parsed.value;
  const chained = index !== undefined && prev !== undefined && digest !== undefined;
  return chained && hash === undefined && seq === undefined;
}

/** `record 3 (line 4): hash_mismatch: …`, or `at the end, after record 6: not_sealed: …`. */
export function faultWords(fault: AnyFault): string {
  const { seq, line, reason } = fault;
  const end = seq === 0 ? 'in an empty file' : `at the end, after record ${seq - 1}`;
  if (reason === 'missing') return `missing: ${datesInWords(oneLine(fault.detail))}`;
  const place = AT_THE_END.has(reason) ? end : `record ${seq} (line ${line})`;
  const detail = oneLine(detailWords(fault)).replace(/^1 records( and .* after them)?/, (words) =>
    words.replace('records', 'record').replace('them', 'it'),
  );
  return `${place}: ${reason}: ${datesInWords(detail)}`;
}

/** Whether a fault stands before the end of the records: there may be more of them, which were not looked at. */
export function isCut(fault: Pick<AnyFault, 'reason' | 'torn'> | undefined): boolean {
  if (fault === undefined) return false;
  const { reason, torn } = fault;
  return torn === true || (!AT_THE_END.has(reason) && !(reason in EVIDENCE_MEANINGS));
}

/** As much of a hash as tells two apart. */
const SHORT_HASH = 16;

function detailWords({ reason, detail, expected }: AnyFault): string {
  if (expected === undefined) return detail;
  const claimed = /^hash is (\w+)$/.exec(detail)?.[1];
  if (reason !== 'hash_mismatch' || claimed === undefined)
    return `${detail} (expected ${expected})`;
  // Where the beginnings are the same, all is shown.
  const isShort = claimed.slice(0, SHORT_HASH) !== expected.slice(0, SHORT_HASH);
  const [claim, content] = [claimed, expected].map((hash) =>
    isShort ? `${hash.slice(0, SHORT_HASH)}…` : hash,
  );
  return `the line claims hash ${claim}, its content hashes to ${content}`;
}

/** `13 records, sealed`, and below it all digits of the head, to be kept or compared. */
export function standing(
  verdict: Pick<Verdict, 'count' | 'sealed' | 'head'>,
  style: Style,
): string {
  return `${stateWords(verdict)}\n${headWords(verdict, style)}`;
}

/** `13 records, sealed`. */
export function stateWords({ count: records, sealed }: Pick<Verdict, 'count' | 'sealed'>): string {
  return `${count(records, 'record')}, ${sealed ? 'sealed' : 'open'}`;
}

/** All digits of the head, as a line below a verdict. */
export function headWords({ head }: Pick<Verdict, 'head'>, style: Style): string {
  return style('quiet', `       head ${head}`);
}

/** What a fault means, and what it doesn't, in a sentence or two. */
export function meaning(
  { reason, torn, undo }: Pick<AnyFault, 'reason' | 'torn' | 'undo'>,
  { count: records, sealed }: Pick<Verdict, 'count' | 'sealed'>,
): string {
  if (torn === true) return TORN_RECORD;
  if (reason === 'torn_tail' && sealed) return BEHIND_THE_SEAL;
  if (reason === 'not_sealed' && records === 0) return EMPTY;
  if (undo !== undefined) return `${MEANINGS[reason]} If that was done on purpose, ${undo}.`;
  if (reason === 'unreadable' || AT_THE_END.has(reason) || reason in EVIDENCE_MEANINGS) {
    return MEANINGS[reason];
  }
  return `${MEANINGS[reason]} ${aroundLine(reason, records)}`;
}

/** What is known of the records before and after a line that is wrong. */
function aroundLine(reason: AnyReason, records: number): string {
  const foreign = reason === 'torn_tail' || MEANINGS[reason] === DAMAGED;
  const before =
    records === 0
      ? `No record comes before it${foreign ? ', so it may be no transcript at all' : ''}`
      : `The ${count(records, 'record')} before it ${records === 1 ? 'holds' : 'hold'}`;
  const after = reason === 'torn_tail' ? '' : '; what comes after it was not looked at';
  return `${before}${after}.`;
}

const TORN_RECORD =
  'A crash, or an editor that leaves out the last newline, does that too. If nothing else of the line is gone, `echo >> FILE` puts it back; if more is, put back a whole copy.';

const BEHIND_THE_SEAL =
  'It stands behind the seal, where hashtape writes nothing: something was added to the file. The records before it hold.';

const EMPTY =
  'The file is empty: a run that crashed before its first record leaves that, or everything in it was cut off. By itself it says nothing more. --allow-open accepts this.';

/** Faults of a file whose records all hold. */
const AT_THE_END: ReadonlySet<AnyReason> = new Set([
  'not_sealed',
  'count_mismatch',
  'head_mismatch',
  'rolled_back',
]);

const DAMAGED =
  'This line is not a record as hashtape writes it: the file was damaged or edited, or is no transcript.';

/** What each fault means. */
export const MEANINGS: Readonly<Record<AnyReason, string>> = {
  ...EVIDENCE_MEANINGS,
  unreadable: "The file can't be read, so nothing is said about it.",
  torn_tail:
    'The last line is unfinished, as a crash during a write leaves it, or the writer is at work on it just now. By itself that is no sign of an edit.',
  bad_utf8: DAMAGED,
  bad_json: DAMAGED,
  not_an_object: DAMAGED,
  missing_fields: DAMAGED,
  extra_fields:
    'Something was added to this record outside of what its hash covers; nothing vouches for the addition.',
  malformed_record: DAMAGED,
  seq_gap: 'Records were removed, repeated or put in another order here.',
  prev_mismatch:
    'This record does not continue the one before it: one of them was changed and hashed anew, or records were exchanged.',
  hash_mismatch: "This record's content, or the hash beside it, was changed after it was written.",
  not_canonical:
    'The content may be the same, but the bytes are not those that were written: another program saved the file again.',
  not_sealed:
    'Everything that is there holds, but the end is missing: the run goes on, crashed, or its end was cut off. --allow-open accepts this; a run that crashed goes on with `hashtape resume`.',
  count_mismatch:
    'The file holds by itself, but is shorter or longer than the transcript that you expected.',
  head_mismatch: 'The file holds by itself, but is not the transcript that you expected.',
};
