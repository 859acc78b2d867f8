/**
 * What a verification shows, and what it doesn't: said once, below the verdicts.
 *
 * @module
 */
import { type Level } from '../attest/coverage.ts';
import { type Examined } from '../attest/examine.ts';
import { type ExaminedAudit } from './audit-evidence.ts';
import { wrapped } from './fit.ts';
import { type Output } from './io.ts';
import { oneLine } from './words.ts';

/** A file that holds. */
export interface Held {
  readonly file: string;
  readonly verdict: Examined | ExaminedAudit;
}

/** What was found about all files. */
export interface Graded {
  /** Those that hold. */
  readonly held: readonly Held[];
  /** How many were judged, or couldn't be. */
  readonly all: number;
  /** In how many of them something is wrong. */
  readonly faults: number;
}

/** In two or three sentences, in lines for `output`. @param head one that was kept elsewhere. */
export function caveat(
  { held, all, faults }: Graded,
  head: string | undefined,
  output: Output,
): string {
  const fit = (text: string): string => wrapped(text, output);
  const not = `Not shown: ${notShown(held, faults, head !== undefined)}`;
  if (held.length === 0) return fit(not);
  const shown = ['the records fit together', ...shownOf(held)];
  if (head !== undefined) shown.push('they are those whose head you kept');
  const last = shown.pop() ?? '';
  const list = shown.length === 0 ? last : `${shown.join(', ')}, and ${last}`;
  const which = held.length === 1 ? 'the file that holds' : `the ${held.length} files that hold`;
  const of = held.length === all ? '' : ` of ${which}`;
  return [`Shown${of}: ${list}.`, not, ...unseen(held)].map(fit).join('\n');
}

/**
 * What isn't shown of files that hold, and of faults: in sentences, the first without its beginning.
 *
 * @param isKept whether the head was kept elsewhere.
 */
export function notShown(held: readonly Held[], faults: number, isKept: boolean): string {
  const what = faults === 1 ? 'the fault' : 'the faults';
  if (held.length === 0) {
    return `who or what caused ${what}, and whether what the records say is true.`;
  }
  return faults === 0
    ? limits(held, isKept)
    : `${limits(held, isKept)} Nor who or what caused ${what}.`;
}

/** What the evidence shows, each of as many files as it covers. */
function shownOf(files: readonly Held[]): string[] {
  const of = (level: Level, all: string, some: (part: string) => string): string[] => {
    const { length } = covered(files, level);
    if (length === 0) return [];
    const part = length === files.length ? all : some(`${length} of ${files.length} files`);
    return [files.length === 1 ? part : part.replace(/^they /, 'all ')];
  };
  const holder = `a holder of ${keyWords(files)} signed`;
  return [
    ...of('signed', `${holder} them`, (part) => `${holder} ${part}`),
    ...of(
      'remembered',
      'they are what this machine remembers of them',
      (part) => `${part} are what this machine remembers of them`,
    ),
    ...of(
      'anchored',
      'they were there when they were anchored',
      (part) => `${part} were there when they were anchored`,
    ),
    ...of(
      'witnessed',
      `${witnessWords(files).who} saw no other history`,
      (part) => `${witnessWords(files).who} saw no other history of ${part}`,
    ),
  ];
}

/** Who cosigned, in all: it is only known by its key. */
function witnessWords(files: readonly Held[]): { readonly who: string; readonly limit: string } {
  const names = files.flatMap(({ verdict }) =>
    verdict.coverage.flatMap(({ by, who = '' }) => (by === 'witnessed' ? who.split(', ') : [])),
  );
  return new Set(names).size === 1
    ? { who: 'a witness', limit: 'the witness is somebody else than who wrote it' }
    : { who: 'witnesses', limit: 'the witnesses are somebody else than who wrote it' };
}

/** Whose key signed: as far as all that are signed have it in common. */
function keyWords(files: readonly Held[]): string {
  const whose = new Set(
    files.flatMap(({ verdict }) =>
      verdict.coverage.flatMap((each) => (each.by === 'signed' ? [each.whose] : [])),
    ),
  );
  if (whose.size !== 1) return 'a known key';
  return whose.has('own') ? 'your key' : 'a key you gave';
}

function covered(files: readonly Held[], level: Level): readonly Held[] {
  return files.filter((file) => isCovered(file, level));
}

function isCovered({ verdict }: Held, level: Level): boolean {
  const { coverage, count: records } = verdict;
  return coverage.some((each) => each.by === level && each.records >= records);
}

function limits(files: readonly Held[], isKept: boolean): string {
  const words = ['that what they say is true.'];
  if (covered(files, 'witnessed').length > 0) {
    words.push(`Nor that ${witnessWords(files).limit}.`);
  }
  if (isKept) return words.join(' ');
  const unsigned = files.filter((file) => !isCovered(file, 'signed'));
  if (unsigned.length > 0) {
    const { who, them } = named(unsigned, files);
    words.push(`Nor who wrote ${who}: no key that is known here signed all of ${them}.`);
  }
  const unknown = files.filter((file) => !isCovered(file, 'remembered'));
  const has = (level: Level): boolean => files.every((file) => isCovered(file, level));
  if (unknown.length > 0) words.push(...otherHistory(unknown, files), advice(unknown));
  else if (has('anchored')) {
    words.push('Nor that the places it is anchored in were out of the reach of who wrote it.');
  } else if (!has('witnessed')) words.push(`Nor anything against ${whoCan(files)}.`);
  return words.join(' ');
}

function otherHistory(unknown: readonly Held[], files: readonly Held[]): string[] {
  const bare = unknown.filter((file) => !isCovered(file, 'witnessed'));
  if (bare.length === 0) return [];
  const { who } = named(bare, files);
  const of = who === 'them' ? '' : ` of ${who}`;
  const isSigned = bare.every((file) => isCovered(file, 'signed'));
  const whoever = !isSigned
    ? 'whoever can write a file'
    : keyWords(bare) === 'your key'
      ? 'any program that runs as you, and so can use your key,'
      : 'the holder of the signing key';
  return [`Nor that there was no other history${of} before: ${whoever} can make one anew.`];
}

function advice(unknown: readonly Held[]): string {
  return unknown.every(({ verdict }) => verdict.remembered)
    ? 'Remembered from now on: a later verify tells if they were cut or rewritten.'
    : 'Keep the 64 digits after `head` elsewhere, and give them to a later verify: --head DIGITS.';
}

/** Who could have made all of it anew: memory and key are files of the user. */
function whoCan(files: readonly Held[]): string {
  const isSigned = files.every((file) => isCovered(file, 'signed'));
  const anyProgram = 'any program that runs as you can, an agent with a shell too';
  if (!isSigned) return `somebody who can also write your memory of heads: ${anyProgram}`;
  if (keyWords(files) === 'your key') {
    return `somebody who can also write your key and your memory of heads: ${anyProgram}`;
  }
  return `a holder of the key who can also write your memory of heads, as any program that runs as you can`;
}

/** So many names are said; of more, how many more there are. */
const MOST_NAMES = 3;

/** Some of the files: `them` if it is all. */
function named(
  some: readonly Held[],
  all: readonly Held[],
): { readonly who: string; readonly them: string } {
  if (some.length === all.length) return { who: 'them', them: 'them' };
  const names = some.slice(0, MOST_NAMES).map(({ file }) => oneLine(file));
  const more = some.length - names.length;
  const rest = more === 0 ? '' : ` and ${more} more`;
  const who = `${some.length} of the ${all.length} files (${names.join(', ')}${rest})`;
  return { who, them: some.length === 1 ? 'it' : 'them' };
}

function unseen(files: readonly Held[]): string[] {
  const bare = files.filter((file) => !isCovered(file, 'remembered'));
  const words = new Set(
    bare.flatMap(({ verdict }) => ('log' in verdict && verdict.unseen ? [verdict.unseen] : [])),
  );
  return [...words].map((each) => `Audit logs: ${each}.`);
}
