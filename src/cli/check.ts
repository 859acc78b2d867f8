/**
 * `hashtape check`: verifies a proof of one record by itself, and tells what it shows.
 *
 * @module
 */
import { open } from 'node:fs/promises';
import { type Command } from 'commander';
import { checkProof, type CheckedProof, type ProofReason } from '../attest/check-proof.ts';
import { keyWords } from '../attest/notices.ts';
import { MAX_BYTES } from '../evidence/encoding.ts';
import { type VerifierKey } from '../evidence/index.ts';
import { pieces } from '../store/pieces.ts';
import { codeOf } from '../store/store-errors.ts';
import { canonicalJson } from '../transcript/index.ts';
import { keyName, line } from './evidence-words.ts';
import { fitted, wrapped } from './fit.ts';
import { CommandError, type ExitStatus, type Io } from './io.ts';
import { knowledgeOf, trustedKey } from './knowledge.ts';
import { loneLines } from './show-committed.ts';
import { accessProblem } from './verdict.ts';
import { count, harmlessJson, number, oneLine } from './words.ts';

interface Flags {
  readonly json?: true;
  readonly full?: true;
  readonly key: readonly VerifierKey[];
}

const HELP = `
Neither the transcript nor a network is needed. Your own key is known; --key
gives that of somebody else, whom you have to know from elsewhere.

Exit status: 0 it holds, 1 it doesn't, or no known key signed it, 2 it can't
be read.

Examples:
  hashtape check today.jsonl.3.tlog-proof
  hashtape check theirs.tlog-proof --key hashtape-1b2c3d4e+5f6a7b8c+AQ…
`;

/** Declares the command. */
export function register(command: Command, io: Io, exit: (status: number) => void): void {
  command
    .argument('<proof>', 'a file that `hashtape prove` wrote')
    .option('--key <vkey>', 'a key to trust beside your own (repeatable)', trustedKey, [])
    .option('--full', 'cut nothing of the record, however long')
    .option('--json', 'print one JSON object instead of words')
    .addHelpText('after', HELP)
    .action(async (file: string, flags: Flags) => {
      exit(await check(file, flags, io));
    });
}

async function check(file: string, { json, full, key }: Flags, io: Io): Promise<ExitStatus> {
  const bytes = await bytesOf(file);
  const { keys } = await knowledgeOf(io, { key });
  const checked = await checkProof(bytes, keys);
  const { out } = io;
  if (json === true) out.line(jsonOf(file, checked));
  else for (const text of inWords(file, checked, { full: full === true, io })) out.line(text);
  return checked.ok ? 0 : 1;
}

/** No more than a proof may have: the file may be anything. */
async function bytesOf(file: string): Promise<Uint8Array> {
  try {
    const handle = await open(file, 'r');
    try {
      const parts: Uint8Array[] = [];
      const read = async (into: Uint8Array): Promise<number> =>
        (await handle.read(into, 0, into.length, null)).bytesRead;
      for await (const piece of pieces(read, MAX_BYTES + 1)) parts.push(new Uint8Array(piece));
      return Buffer.concat(parts);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    throw new CommandError(`${oneLine(file)}: ${accessProblem(file, error)}`, { cause: error });
  }
}

function jsonOf(file: string, { record, ...checked }: CheckedProof): string {
  const json = JSON.stringify({ file, ...checked });
  // JSON.stringify would spell numbers otherwise.
  const spelled = record === undefined ? '' : `,"record":${canonicalJson({ ...record }, Infinity)}`;
  return harmlessJson(`${json.slice(0, -1)}${spelled}}`);
}

function inWords(
  file: string,
  { fault, record, origin = '', size = 0, signed, unknown }: CheckedProof,
  { full, io }: { readonly full: boolean; readonly io: Io },
): readonly string[] {
  const { style } = io.out;
  const name = oneLine(file);
  const keys = [
    ...signed.map((key) => line('signed', `by ${oneLine(keyName(key))}`, style)),
    ...(unknown.length === 0
      ? []
      : [line('note', `signed by an unknown key: ${oneLine(keyWords(unknown))}`, style)]),
  ];
  if (record === undefined) {
    const { reason, detail } = fault ?? { reason: 'bad_proof', detail: '' };
    const words = `${style('bad', 'FAULT')}  ${name}  ${reason}: ${oneLine(detail)}`;
    return [fitted(words, io.out), ...keys, wrapped(MEANINGS[reason], io.out)];
  }
  const { seq } = record;
  const place = `record ${number(seq)} of log ${oneLine(origin)}, with ${count(size, 'record')}`;
  return [
    fitted(`${style('good', 'ok')}     ${name}  ${place}`, io.out),
    ...keys,
    '',
    ...loneLines(record, { full, style }),
    '',
    style('quiet', [SHOWN, NOT_SHOWN].map((text) => wrapped(text, io.out)).join('\n')),
  ];
}

const SHOWN =
  'Shown: this record is at this place in the log, and a holder of the key signed the log.';
const NOT_SHOWN =
  'Not shown: that what it says is true, when it was written, or what the other records say. Nor that there is no other history of the log: whoever could use the key could write and sign another. Nor what came after: `hashtape verify` needs the transcript.';

const CHANGED = 'The record in the file was changed or damaged after the proof was made.';

/** What each fault means. */
const MEANINGS: Readonly<Record<ProofReason, string>> = {
  bad_proof:
    'The file is no proof as hashtape writes it, or it was damaged or edited. For a transcript there is `hashtape verify`.',
  bad_record: CHANGED,
  hash_mismatch: CHANGED,
  not_canonical: CHANGED,
  root_mismatch:
    'The record, its path and the checkpoint do not belong together: one of them was changed, or is of another log or another place.',
  bad_signature: 'The checkpoint was changed after it was signed, or is damaged.',
  unknown_key:
    'The file fits together, but anybody can make one that does. Ask whoever you know to have made the log for the key (`hashtape key show` prints it), and give it: --key NAME+ID+BASE64.',
};
