/**
 * `hashtape heads`: what this user has seen of each log.
 *
 * @module
 */
import { dirname, join, sep } from 'node:path';
import { type Command } from 'commander';
import { catalogPath, isCatalog, readCatalog } from '../attest/catalog.ts';
import { noteRemoval } from '../attest/catalog-notes.ts';
import { isThere, placeOf, placesOf } from '../attest/place-of.ts';
import { HeadMemory, seenAs, type KnownHead } from '../attest/head-memory.ts';
import { identityIn } from '../attest/identity-in.ts';
import { readKeyring } from '../attest/key-file.ts';
import { originOf } from '../attest/log-identity.ts';
import { placesIn } from '../attest/places.ts';
import { entryCount } from './audit-words.ts';
import { CommandError, type ExitStatus, type Io } from './io.ts';
import { targetsOf } from './targets.ts';
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
      exit(list(memory, json === true, io));
    });
  command
    .command('forget')
    .description('forget what was seen of a log')
    .argument('<log...>', 'where it was, a folder for all in it, or an origin of the list')
    .action(async (logs: string[]) => {
      let status: ExitStatus = 0;
      for (const log of logs) if (!(await forget(memory, log, io))) status = 2;
      exit(status);
    });
}

function list(memory: HeadMemory, json: boolean, io: Io): ExitStatus {
  const heads = memory.list().toSorted((a, b) => (a.time < b.time ? -1 : 1));
  for (const head of heads) io.out.line(json ? jsonOf(head) : inWords(head));
  const problems = memory.problems();
  for (const problem of problems) io.err.line(oneLine(problem));
  if (heads.length + problems.length === 0 && !json) io.err.line('nothing is remembered yet');
  return problems.length === 0 ? 0 : 2;
}

function jsonOf({ log, ...head }: KnownHead): string {
  return harmlessJson(JSON.stringify({ origin: originOf(log), ...head }));
}

function inWords({ log, kind, size, sealed, path, by, time }: KnownHead): string {
  const state = sealed ? 'sealed' : 'open';
  const where = oneLine(path);
  const what = kind === 'audit' ? `audit log, ${entryCount(size)}` : count(size, 'record');
  return `${timeWords(time)}  ${what}, ${state}, ${seenAs(by)}  ${where}\n  ${originOf(log)}`;
}

/** Tells whether all of it was forgotten. */
async function forget(memory: HeadMemory, log: string, io: Io): Promise<boolean> {
  // An empty variable of a shell would be the folder that one is in.
  if (log === '') throw new CommandError('the path is empty; say what to forget');
  const [, id] = /^(?:hashtape\/)?([0-9a-f]{64})$/.exec(log) ?? [];
  const path = placeOf(log);
  const forgotten =
    id === undefined ? await forgetAt(memory, log) : Number(await memory.forget(id));
  const { unlisted, problems } =
    id === undefined ? await unlist(path, memory, io) : { unlisted: 0, problems: [] };
  for (const problem of problems) io.err.line(problem);
  if (forgotten + unlisted + problems.length === 0) {
    throw new CommandError(`${oneLine(log)}: nothing is remembered of it; see \`hashtape heads\``);
  }
  const words = [
    ...(forgotten === 0 ? [] : [forgotten === 1 ? 'forgotten' : `${forgotten} heads forgotten`]),
    ...(unlisted === 0
      ? []
      : [unlisted === 1 ? 'off the catalogue' : `${unlisted} off the catalogue`]),
  ];
  if (words.length > 0) io.out.line(`${oneLine(log)}  ${words.join(', ')}`);
  return problems.length === 0;
}

/** Forgets what was seen at a path, or below it, and what is damaged of the log that is there. Tells how many heads that were. */
async function forgetAt(memory: HeadMemory, path: string): Promise<number> {
  const places = placesOf(path).map((place) => join(place, sep));
  const below = memory
    .list()
    .filter((head) => places.some((place) => (head.path + sep).startsWith(place)));
  let forgotten = 0;
  for (const head of below) if (await memory.forget(head.log, head.path)) forgotten += 1;
  const identity = await identityIn(path);
  const isDamaged = identity !== null && 'problem' in memory.recall(identity.id);
  if (isDamaged && (await memory.forget(identity.id))) forgotten += 1;
  return forgotten;
}

/** What was taken off catalogues, and which couldn't be changed. */
interface Unlisted {
  readonly unlisted: number;
  readonly problems: readonly string[];
}

/** Takes a file off its folder's catalogue; of a folder, what is gone of what is listed in it, at any depth. */
async function unlist(path: string, memory: HeadMemory, io: Io): Promise<Unlisted> {
  const ring = await readKeyring(placesIn(io.env).config).catch(() => null);
  const problems = new Set<string>();
  let unlisted = 0;
  for (const file of [path, ...(await goneBelow(path))]) {
    try {
      if (await noteRemoval(file, { signer: ring?.signer, memory })) unlisted += 1;
    } catch (error) {
      const name = oneLine(catalogPath(file));
      problems.add(
        `${name} could not be changed, so it still lists what is gone: ${problemOf(error)}`,
      );
    }
  }
  return { unlisted, problems: [...problems] };
}

async function goneBelow(folder: string): Promise<readonly string[]> {
  const gone: string[] = [];
  for (const { file: catalog } of await targetsOf(folder)) {
    if (!isCatalog(catalog)) continue;
    // What is wrong with a catalogue is for its own verify to say.
    const listing = await readCatalog(catalog).catch(() => null);
    const files = [...(listing?.files.keys() ?? [])].map((name) => join(dirname(catalog), name));
    for (const file of files) if (!isThere(file)) gone.push(file);
  }
  return gone;
}
