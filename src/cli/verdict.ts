/**
 * What `verify` and `show` have in common: a file's verdict, and what it means in plain words.
 *
 * @module
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { verifyFile } from '../store/index.ts';
import { codeOf } from '../store/store-errors.ts';
import {
  isJsonObject,
  parseJson,
  type Fault,
  type Reason,
  type Verdict,
  type VerifyOptions,
} from '../transcript/index.ts';
import { progressOf, type Output, type Style } from './io.ts';
import { count, oneLine, problemOf } from './words.ts';

/** What was found about a file; without a verdict it couldn't be graded, and the problem says why. */
export type Judged = { readonly verdict: Verdict } | { readonly problem: string };

/** Verifies a file, with progress where that takes long. */
export async function judge(file: string, options: VerifyOptions, err: Output): Promise<Judged> {
  const progress = progressOf(err, `verifying ${oneLine(file)}`);
  const verdict = await verifyFile(file, { ...options, onProgress: progress.update });
  progress.done();
  const { fault } = verdict;
  if (fault?.reason === 'unreadable') {
    return { problem: unreadable(fault.detail) };
  }
  if (fault?.line === 1 && (await isAuditLog(file).catch(() => false))) {
    return {
      problem:
        'it is an audit log of tiny_computer_agent, which this version does not grade; nothing is said about it',
    };
  }
  return { verdict };
}

/** Why a file that couldn't even be looked at isn't graded. */
export function accessProblem(error: unknown): string {
  if (codeOf(error) === 'ENOENT') return 'there is no such file; check the path';
  return unreadable(problemOf(error));
}

function unreadable(why: string): string {
  return `it can't be read: ${why}; check the path`;
}

/** How much of a file is looked at to tell what it is. */
const OPENING_BYTES = 65_536;
const OPENING_LINES = 5;

/** Audit logs are chained too, but are no transcripts. Any line may be damaged, so one of the first will do. */
async function isAuditLog(file: string): Promise<boolean> {
  // A pipe has been read already, and may have no end.
  if (!(await stat(file)).isFile()) return false;
  const opening = await text(createReadStream(file, { end: OPENING_BYTES - 1 }));
  return opening.split('\n', OPENING_LINES).some((line) => {
    const parsed = parseJson(line);
    if (!parsed.ok || !isJsonObject(parsed.value)) return false;
    const { index, prev, digest, payload } = parsed.value;
    const chained = typeof prev === 'string' && typeof digest === 'string';
    return chained && index !== undefined && payload === undefined;
  });
}

/** `record 3 (line 4): hash_mismatch: …`, or `at the end, after record 6: not_sealed: …`. */
export function faultWords(fault: Fault): string {
  const { seq, line, reason } = fault;
  const end = seq === 0 ? 'in an empty file' : `at the end, after record ${seq - 1}`;
  const place = AT_THE_END.has(reason) ? end : `record ${seq} (line ${line})`;
  return `${place}: ${reason}: ${oneLine(detailWords(fault))}`;
}

/** As much of a hash as tells two apart. */
const SHORT_HASH = 16;

function detailWords({ reason, detail, expected }: Fault): string {
  if (expected === undefined) return detail;
  const claimed = /^hash is (\w+)$/.exec(detail)?.[1];
  if (reason !== 'hash_mismatch' || claimed === undefined)
    return `${detail} (expected ${expected})`;
  const [claim, content] = [claimed, expected].map((hash) => `${hash.slice(0, SHORT_HASH)}…`);
  return `the line claims hash ${claim}, its content hashes to ${content}`;
}

/** `13 records, sealed`, and below it all digits of the head, to be kept or compared. */
export function standing({ count: records, sealed, head }: Verdict, style: Style): string {
  const words = `${count(records, 'record')}, ${sealed ? 'sealed' : 'open'}`;
  return `${words}\n${style('quiet', `       head ${head}`)}`;
}

/** What a fault means, and what it doesn't, in a sentence or two. */
export function meaning({ reason }: Fault, { count: records }: Verdict): string {
  if (reason === 'unreadable' || AT_THE_END.has(reason)) return MEANINGS[reason];
  const before =
    records === 0
      ? 'No record comes before it'
      : `The ${count(records, 'record')} before it ${records === 1 ? 'holds' : 'hold'}`;
  const after = reason === 'torn_tail' ? '' : '; what comes after it was not looked at';
  return `${MEANINGS[reason]} ${before}${after}.`;
}

/** Faults of a file whose records all hold. */
const AT_THE_END: ReadonlySet<Reason> = new Set(['not_sealed', 'count_mismatch', 'head_mismatch']);

const DAMAGED =
  'This line is not a record as hashtape writes it: the file was damaged or edited, or is no transcript.';

/** What each fault means. */
export const MEANINGS: Readonly<Record<Reason, string>> = {
  unreadable: "The file can't be read, so nothing is said about it.",
  torn_tail:
    'The last line is unfinished, as a crash during a write leaves it. By itself that is no sign of an edit.',
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
  hash_mismatch: "This record's content was changed after it was written.",
  not_canonical:
    'The content may be the same, but the bytes are not those that were written: another program saved the file again.',
  not_sealed:
    'Everything that is there holds, but the end is missing: the run goes on, crashed, or its end was cut off. --allow-open accepts this.',
  count_mismatch:
    'The file holds by itself, but is shorter or longer than the transcript that you expected.',
  head_mismatch: 'The file holds by itself, but is not the transcript that you expected.',
};
