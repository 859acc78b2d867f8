/**
 * `hashtape prove`: one record in a file of its own, which `hashtape check` verifies without the transcript.
 *
 * @module
 */
import { rmSync, writeFileSync } from 'node:fs';
import { type Command } from 'commander';
import { checkProof } from '../attest/check-proof.ts';
import { placesIn } from '../attest/places.ts';
import { ProveError, proveRecord } from '../attest/prove.ts';
import { type VerifierKey } from '../evidence/index.ts';
import { shellPath } from '../store/shell-path.ts';
import { codeOf } from '../store/store-errors.ts';
import { StoreError } from '../store/store.ts';
import { keyName } from './evidence-words.ts';
import { CommandError, progressOf, type ExitStatus, type Io } from './io.ts';
import { knowledgeOf } from './knowledge.ts';
import { wholeNumber } from './options.ts';
import { count, oneLine, problemOf } from './words.ts';

const HELP = `
The proof holds the record itself, its path in the log's Merkle tree, and the
newest signed checkpoint beside the transcript. It tells nothing of other
records but hashes. The form is C2SP tlog-proof.

Exit status: 0 the proof is written, 2 it can't be made.

Examples:
  hashtape prove runs/today.jsonl 3
  hashtape check runs/today.jsonl.3.tlog-proof
`;

/** Declares the command. */
export function register(command: Command, io: Io, exit: (status: number) => void): void {
  command
    .argument('<file>', 'a transcript with checkpoints beside it')
    .argument('<seq>', "the record's number, from 0, as `hashtape show` gives it", wholeNumber)
    .option('--out <file>', 'where to write the proof (default FILE.SEQ.tlog-proof)')
    .addHelpText('after', HELP)
    .action(async (file: string, seq: number, { out }: { readonly out?: string }) => {
      exit(await prove(file, seq, out ?? `${file}.${seq}.tlog-proof`, io));
    });
}

async function prove(file: string, seq: number, out: string, io: Io): Promise<ExitStatus> {
  const { keys } = await knowledgeOf(io);
  const proof = await proven(file, seq, keys, io);
  const { fault, size = 0, signed, unknown } = await checkProof(proof, keys);
  // Whoever makes a proof of another's log need not know the key: whoever checks it must.
  if (fault !== undefined && fault.reason !== 'unknown_key') {
    throw new CommandError(`${oneLine(file)}: nothing can be proven: ${oneLine(fault.detail)}`);
  }
  write(out, proof);
  const names = [...signed.map(keyName), ...unknown.map((name) => `${name} (not known here)`)];
  const log = `record ${seq} of ${count(size, 'record')}, signed by ${names.join(', ')}`;
  io.out.line(`${io.out.style('good', 'proof')}  ${oneLine(out)}  ${oneLine(log)}`);
  const [key] = signed;
  const give = key === undefined ? '' : ` --key ${shellPath(key)}`;
  io.err.line(
    `whoever has the file checks it by: hashtape check ${shellPath(oneLine(out))}${oneLine(give)}`,
  );
  return 0;
}

async function proven(
  file: string,
  seq: number,
  keys: readonly VerifierKey[],
  io: Io,
): Promise<string> {
  const progress = progressOf(io.err, `reading ${oneLine(file)}`);
  try {
    const { cache } = placesIn(io.env);
    return await proveRecord(file, seq, { cache, keys, onProgress: progress.update });
  } catch (error) {
    const isForeseen = error instanceof ProveError || error instanceof StoreError;
    if (!isForeseen) throw error;
    throw new CommandError(oneLine(error.message), { cause: error });
  } finally {
    progress.done();
  }
}

function write(out: string, proof: string): void {
  let isOurs = false;
  try {
    // Never over a file that is there.
    writeFileSync(out, '', { flag: 'wx' });
    isOurs = true;
    writeFileSync(out, proof, { flush: true });
  } catch (error) {
    if (isOurs) rmSync(out, { force: true });
    const problem =
      codeOf(error) === 'EEXIST'
        ? 'it is there already; --out names another place'
        : `it can't be written: ${problemOf(error)}`;
    throw new CommandError(`${oneLine(out)}: ${problem}`, { cause: error });
  }
}
