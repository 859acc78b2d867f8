/**
 * `hashtape heads`: what this user has seen of each log.
 *
 * @module
 */
import { resolve, sep } from 'node:path';
import { type Command } from 'commander';
import { noteRemoval } from '../attest/catalog-notes.ts';
import { placeOf } from '../attest/place-of.ts';
import { HeadMemory, type KnownHead } from '../attest/head-memory.ts';
import { readKeyring } from '../attest/key-file.ts';
import { originOf } from '../attest/log-identity.ts';
import { placesIn } from '../attest/places.ts';
import { CommandError, type Io } from './io.ts';
import { count, harmlessJson, oneLine, problemOf, timeWords } from './words.ts';

const HELP = `
Whenever a run is written, or a transcript verified, its size and Merkle root
are remembered, as ssh remembers hosts. A transcript that is smaller than it
was, or another than it was, is a fault from then on.

\`forget\` is for what you did yourself: you removed a transcript, replaced it,
or want to go on with an older copy. It also takes the file off its folder's
catalogue. What you moved is remembered where it is now, once \`hashtape
verify\` has seen it there.

Examples:
  hashtape heads
  hashtape heads forget runs/today.jsonl
`;

/** Declares the command. */
export function register(command: Command, io: Io, exit: (status: number) => void): void {
  const memory = new HeadMemory(placesIn(io.env).state);
  command.addHelpText('after', HELP);
  command
    .command('list', { isDefault: true })
    .description('list what is remembered')
    .option('--json', 'print one JSON object a line')
    .action(({ json }: { json?: true }) => {
      list(memory, json === true, io);
      exit(0);
    });
  command
    .command('forget')
    .description('forget what was seen of a log')
    .argument('<log...>', 'where it was, a folder for all in it, or an origin of the list')
    .action(async (logs: string[]) => {
      for (const log of logs) await forget(memory, log, io);
      exit(0);
    });
}

function list(memory: HeadMemory, json: boolean, io: Io): void {
  const heads = memory.list().toSorted((a, b) => (a.time < b.time ? -1 : 1));
  for (const head of heads) io.out.line(json ? jsonOf(head) : inWords(head));
  if (heads.length === 0 && !json) io.err.line('nothing is remembered yet');
}

function jsonOf({ log, ...head }: KnownHead): string {
  return harmlessJson(JSON.stringify({ origin: originOf(log), ...head }));
}

function inWords({ log, size, sealed, path, by, time }: KnownHead): string {
  const state = sealed ? 'sealed' : 'open';
  const who = by === 'writer' ? 'written' : 'verified';
  const where = oneLine(path);
  return `${timeWords(time)}  ${count(size, 'record')}, ${state}, ${who}  ${where}\n  ${originOf(log)}`;
}

async function forget(memory: HeadMemory, log: string, io: Io): Promise<void> {
  const [, id] = /^(?:hashtape\/)?([0-9a-f]{64})$/.exec(log) ?? [];
  const path = placeOf(resolve(log));
  const wanted = id === undefined ? rememberedAt(memory, path) : [id];
  let forgotten = 0;
  for (const each of wanted) if (await memory.forget(each)) forgotten += 1;
  const listed = id === undefined && (await unlist(path, memory, io));
  if (forgotten === 0 && !listed) {
    throw new CommandError(`${oneLine(log)}: nothing is remembered of it; see \`hashtape heads\``);
  }
  const words = [
    ...(forgotten === 0 ? [] : [forgotten === 1 ? 'forgotten' : `${forgotten} logs forgotten`]),
    ...(listed ? ['off the catalogue'] : []),
  ];
  io.out.line(`${oneLine(log)}  ${words.join(', ')}`);
}

/** The logs that were last seen at a path, or below it, and an audit log that is known by it. */
function rememberedAt(memory: HeadMemory, path: string): readonly string[] {
  const below = memory.list().filter((head) => (head.path + sep).startsWith(path + sep));
  return below.map(({ log }) => log);
}

async function unlist(path: string, memory: HeadMemory, io: Io): Promise<boolean> {
  const ring = await readKeyring(placesIn(io.env).config).catch(() => null);
  try {
    return await noteRemoval(path, { signer: ring?.signer, memory });
  } catch (error) {
    io.err.line(`the catalogue of its folder could not be changed: ${problemOf(error)}`);
    return false;
  }
}
