/**
 * What `verify` and `show` have in common: a file's verdict, and what it means in plain words.
 *
 * @module
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { verifyFile } from '../store/index.ts';
import {
  isJsonObject,
  parseJson,
  type Fault,
  type Reason,
  type Verdict,
  type VerifyOptions,
} from '../transcript/index.ts';
import { progressOf, type Output } from './io.ts';
import { count, oneLine } from './words.ts';

/** What was found about a file; without a verdict it couldn't be graded, as it … (the problem). */
export type Judged = { readonly verdict: Verdict } | { readonly problem: string };

/** Verifies a file, with progress where that takes long. */
export async function judge(file: string, options: VerifyOptions, err: Output): Promise<Judged> {
  const progress = progressOf(err, `verifying ${oneLine(file)}`);
  const verdict = await verifyFile(file, { ...options, onProgress: progress.update });
  progress.done();
  const { fault } = verdict;
  if (fault?.reason === 'unreadable') {
    return { problem: `can't be read: ${fault.detail}; check the path` };
  }
  if (fault?.line === 1 && (await isAuditLog(file).catch(() => false))) {
    return {
      problem:
        'is an audit log of tiny_computer_agent, which this version does not grade; nothing is said about it',
    };
  }
  return { verdict };
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

/** `record 3 (line 4): hash_mismatch: …`. */
export function faultWords({ seq, line, reason, detail, expected }: Fault): string {
  const wanted = expected === undefined ? '' : ` (expected ${oneLine(expected)})`;
  return `record ${seq} (line ${line}): ${reason}: ${oneLine(detail)}${wanted}`;
}

/** `13 records, sealed, head 9f3c0a…`. */
export function standing({ count: records, sealed, head }: Verdict): string {
  return `${count(records, 'record')}, ${sealed ? 'sealed' : 'open'}, head ${head.slice(0, 16)}…`;
}

/** What a fault means, and what it doesn't, in a sentence or two. */
export function meaning({ reason }: Fault, { count: records }: Verdict): string {
  if (WHOLE_FILE.has(reason)) return MEANINGS[reason];
  const before =
    records === 0
      ? 'No record comes before it'
      : `The ${count(records, 'record')} before it ${records === 1 ? 'holds' : 'hold'}`;
  const after = reason === 'torn_tail' ? '' : '; what comes after it was not looked at';
  return `${MEANINGS[reason]} ${before}${after}.`;
}

const WHOLE_FILE: ReadonlySet<Reason> = new Set([
  'unreadable',
  'not_sealed',
  'count_mismatch',
  'head_mismatch',
]);

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
