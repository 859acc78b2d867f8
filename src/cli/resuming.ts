/**
 * Going on with a run that was cut off: what `resume` and `run --resume` have in common.
 *
 * @module
 */
import { realpath } from 'node:fs/promises';
import {
  JournalError,
  type ConfigurationPart,
  type ResumeOptions,
  type RunEvent,
} from '../index.ts';
import { readVerified } from '../replay/read-verified.ts';
import { CONFIGURATION_PARTS, differenceText } from '../run/differences.ts';
import { withheld } from '../run/redacting.ts';
import { readJournal, type Journal } from '../run/journal.ts';
import { resumeFrom } from '../run/resume.ts';
import { StoreError } from '../store/index.ts';
import { shellPath } from '../store/shell-path.ts';
import { isJsonObject, type TranscriptRecord } from '../transcript/index.ts';
import { CommandError, type ExitStatus, type Io } from './io.ts';
import { ownFiles, type Keeping } from './keeping.ts';
import { type LiveFlags } from './live-options.ts';
import { carryLive } from './live-run.ts';
import { stopWords } from './report.ts';
import { type Root } from './tools/root.ts';
import { faultWords, judgeOpen } from './verdict.ts';
import { cut, oneLine, problemOf } from './words.ts';

/** A transcript to go on with, as it was when it was looked at. */
export interface Unfinished extends Journal {
  readonly file: string;
  /** Whether its last line is unfinished. */
  readonly torn: boolean;
}

/**
 * Looks at a transcript before it is gone on with.
 *
 * @throws {CommandError} if it can't be: missing, sealed, broken, or not of a run of ours.
 */
export async function unfinished(file: string): Promise<Unfinished> {
  const name = oneLine(file);
  const { verdict, records, withheldFrom } = await readVerified(file);
  const torn = verdict.fault?.reason === 'torn_tail' && !verdict.sealed;
  if (!verdict.ok && !torn) throw new CommandError(`${name}: ${await whyNot(file)}`);
  if (verdict.sealed) {
    const final = records.at(-1)?.payload;
    const reason =
      isJsonObject(final) && typeof final['reason'] === 'string' ? final['reason'] : '';
    const why = stopWords(reason) ?? 'another program sealed it';
    throw new CommandError(
      `${name}: the run in it has ended (${oneLine(why)}), so there is nothing to go on with; \`npx hashtape show ${shellPath(name)}\` shows it, and a new run takes a new file`,
    );
  }
  try {
    if (withheldFrom !== undefined) throw withheld(name, withheldFrom);
    return { ...(await readJournal(each(records), name)), file, torn };
  } catch (error) {
    throw inWords(error, file);
  }
}

async function whyNot(file: string): Promise<string> {
  const { problem, verdict } = await judgeOpen(file);
  if (problem !== undefined) return problem;
  if (verdict.fault === undefined) return 'it changed while it was read; try again';
  return `${faultWords(verdict.fault)}. What doesn't verify is not gone on with, and is left as it is; a new run takes a new file`;
}

async function* each(records: readonly TranscriptRecord[]): AsyncGenerator<TranscriptRecord> {
  yield* records;
}

/** What a run that goes on is watched with. */
interface Setting {
  readonly flags: LiveFlags;
  readonly root: Root;
  readonly io: Io;
  readonly keeping: Keeping;
}

/**
 * Goes on with it.
 *
 * @throws {CommandError} if that isn't possible; the file is as it was.
 */
export async function goOn(
  { file, torn, state, task }: Unfinished,
  options: ResumeOptions,
  { flags, root, io, keeping }: Setting,
): Promise<ExitStatus> {
  const name = oneLine(file);
  if (state !== null && options.task !== undefined && options.task !== task) {
    throw new CommandError(
      `${name}: the run in it has another task, '${oneLine(cut(task, TASK_LENGTH))}'; give that one, or another --out`,
    );
  }
  root.protect(...ownFiles(await realpath(file)));
  // Only when it has been opened and found fit: until then the file may yet be refused.
  const announce = (): void => {
    io.err.line(`model ${oneLine(options.model.id ?? 'custom')}, transcript ${name}`);
    if (torn) io.err.line('its last line was unfinished; the bytes are kept in a file beside it');
  };
  try {
    const setting = { io, keeping };
    return await carryLive(
      flags,
      options.budget ?? {},
      setting,
      ({ on, say: _say, ...watching }) => {
        const listener = (event: RunEvent): void => {
          if (event.type === 'run-start') announce();
          on(event);
        };
        const all = { ...options, ...watching, on: listener };
        return resumeFrom((accept) => keeping.open(file, accept), file, all);
      },
    );
  } catch (error) {
    throw inWords(error, file);
  }
}

const TASK_LENGTH = 60;

/** What the library throws when it can't go on; the fault of a program stays what it is. */
function inWords(error: unknown, file: string): unknown {
  if (error instanceof JournalError && error.differences.length > 0) {
    return new CommandError(differenceWords(error, file), { cause: error });
  }
  const isKnown = error instanceof JournalError || error instanceof StoreError;
  return isKnown ? new CommandError(problemOf(error), { cause: error }) : error;
}

/** So many differences are told; who gave no tools need not read of each. */
const TOLD = 3;

function differenceWords({ differences }: JournalError, file: string): string {
  const told = differences.slice(0, TOLD).map(differenceText);
  if (differences.length > TOLD) told.push(`and ${differences.length - TOLD} more`);
  const parts = CONFIGURATION_PARTS.filter((part) =>
    differences.some((found) => found.part === part),
  );
  const flags = parts.flatMap((part) => FLAGS.get(part) ?? []).join(', ');
  const allow = parts.map((part) => `--allow ${part}`).join(' ');
  const name = oneLine(file);
  return `${name}: the run was begun under another configuration: ${oneLine(told.join('; '))}. Give what it began with${flags === '' ? '' : ` (${flags})`}, or let it differ: \`npx hashtape resume ${shellPath(name)} ${allow}\` with your other options`;
}

/** The options that a part of a configuration is given by. */
const FLAGS: ReadonlyMap<ConfigurationPart, string> = new Map([
  ['model', '--model'],
  ['tools', '--tools, --with'],
  ['budget', '--max-…'],
  ['system', '--system'],
  ['sentinel', '--sentinel'],
  ['price', '--price-in, --price-out'],
  ['watchdog', '--stop-on-stall'],
  ['check', '--check'],
  ['permit', '--ask'],
  ['redact', '--redact, --redact-secrets'],
]);
