/**
 * The disclosures of a transcript, in words: how much is disclosed, what is withheld and what is wrong.
 *
 * @module
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import {
  type Disclosed,
  type OpenFault as WrongLine,
  type Revealer,
} from '../evidence/revealer.ts';
import { revealerFor } from '../store/disclosure-file.ts';
import { readRecords, StoreError } from '../store/index.ts';
import { SIDECAR } from '../store/sidecars.ts';
import { type Reason } from '../transcript/index.ts';
import { type ExitStatus, type Style } from './io.ts';
import { type Judged } from './verdict.ts';
import { count, number, problemOf } from './words.ts';

/** What was found of a transcript's disclosures. */
export interface Disclosures {
  /** How many there are. */
  readonly lines: readonly string[];
  /** What is wrong with them, or why they couldn't be read. */
  readonly faults: readonly string[];
  /** 0: what is there is right; 1: something is not; 2: they couldn't be read. */
  readonly status: ExitStatus;
  /** Undefined if they couldn't be read. */
  readonly found?: Disclosed;
  /** Why they couldn't be read. */
  readonly problem?: string;
}

/** What is wrong beside a transcript that itself holds. */
export interface OpenFault {
  readonly reason: 'bad_disclosure' | 'unreadable';
  /** The file of disclosures, and the first line of it that is wrong. */
  readonly file: string;
  readonly line?: number;
  readonly detail: string;
}

/** The first fault of a transcript's disclosures. */
export function openFault(
  transcript: string,
  opened: Disclosures | undefined,
): OpenFault | undefined {
  const file = transcript + SIDECAR.disclosures;
  const { found, problem } = opened ?? {};
  if (problem !== undefined) return { reason: 'unreadable', file, detail: problem };
  const [first] = found?.faults ?? [];
  if (first === undefined) return undefined;
  return { reason: 'bad_disclosure', file, line: first.line, detail: first.problem };
}

/**
 * Compares the disclosures beside a transcript with its records. Undefined if there is nothing to compare: nothing
 * was taken out and there are none, the records don't hold, or the file is a pipe.
 */
export async function disclosuresOf(
  file: string,
  { verdict }: Judged,
): Promise<Disclosures | undefined> {
  if (verdict === undefined || 'log' in verdict || verdict.count === 0) return undefined;
  const { fault, sealed } = verdict;
  if (fault !== undefined && !AT_THE_END.has(fault.reason)) return undefined;
  try {
    if (!(await stat(file)).isFile()) return undefined;
    const revealer = await revealerFor(file);
    if (revealer.isEmpty && !(await namesRules(file))) return undefined;
    let left = verdict.count;
    for await (const record of readRecords(file)) {
      revealer.reveal(record);
      left -= 1;
      if (left === 0) break;
    }
    return told(revealer, sealed);
  } catch (error) {
    return unreadable(error);
  }
}

/** Why disclosures couldn't be read. */
export function unreadable(error: unknown): Disclosures {
  if (!(error instanceof StoreError) && !(error instanceof SyntaxError)) throw error;
  const problem = problemOf(error);
  const faults = [`the disclosures were not compared: ${problem}`];
  return { lines: [], faults, status: 2, problem };
}

/** What a revealer found that has read all records; undefined if there was nothing to find. */
export function told(revealer: Revealer, sealed: boolean): Disclosures | undefined {
  const found = revealer.end(sealed);
  const { committed, disclosed, withheld, unused, faults } = found;
  if (committed + unused + faults.length === 0) return undefined;
  const of = `${number(disclosed)} of ${count(committed, 'committed value')}`;
  const rest = withheld === 0 ? '' : `, ${number(withheld)} withheld`;
  const lines = [
    `${of} ${disclosed === 1 ? 'is' : 'are'} disclosed${rest}`,
    ...(unused === 0 ? [] : [unusedWords(unused)]),
  ];
  const more = faults.length - MAX_FAULTS;
  const wrong = [
    ...faults.slice(0, MAX_FAULTS).map(faultWords),
    ...(more > 0 ? [`and ${number(more)} more`] : []),
  ];
  return { lines, faults: wrong, status: faults.length === 0 ? 0 : 1, found };
}

/** So many are told one by one: a damaged file may have as many as lines. */
const MAX_FAULTS = 20;

function faultWords({ line, problem }: WrongLine): string {
  return `line ${line} of its disclosures is wrong: ${problem}`;
}

function unusedWords(unused: number): string {
  return unused === 1
    ? '1 disclosure is not used: the record that it names is not there, as after a crash or a cut'
    : `${number(unused)} disclosures are not used: the records that they name are not there, as after a crash or a cut`;
}

/** Lines below a verdict. @param isTold whether the first fault is the verdict. */
export function disclosureWords(
  opened: Disclosures | undefined,
  isTold: boolean,
  style: Style,
): string {
  if (opened === undefined) return '';
  const { lines, faults } = opened;
  return [
    ...lines.map((line) => style('quiet', line)),
    ...faults.slice(isTold ? 1 : 0).map((line) => style('bad', line)),
  ]
    .map((line) => `\n       ${line}`)
    .join('');
}

/** What a verdict and the disclosures come to. Where the transcript doesn't hold, that is what was found. */
export function statusWith(isGood: boolean, opened: Disclosures | undefined): ExitStatus {
  return isGood ? (opened?.status ?? 0) : 1;
}

/** Faults of files whose records all hold. */
const AT_THE_END: ReadonlySet<Reason> = new Set([
  'torn_tail',
  'not_sealed',
  'count_mismatch',
  'head_mismatch',
]);

/** As a record spells it. */
const RULES = Buffer.from('"redact":[');

/** Whether a record may name rules: a look at the bytes, as most transcripts have none and may be long. */
async function namesRules(file: string): Promise<boolean> {
  let end = Buffer.alloc(0);
  for await (const piece of createReadStream(file, { highWaterMark: 1024 * 1024 })) {
    const part = Buffer.concat([end, Buffer.from(piece)]);
    if (part.includes(RULES)) return true;
    end = part.subarray(1 - RULES.length);
  }
  return false;
}
