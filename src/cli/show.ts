/**
 * `hashtape show`: a transcript or an audit log, readable in the terminal.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises';
import { type Command } from 'commander';
import { isCatalog } from '../attest/catalog.ts';
import { Examination, type Examined } from '../attest/examine.ts';
import { parseEntry } from '../computer/audit-entry.ts';
import { createAuditVerifier, type AuditVerifier } from '../computer/audit-verify.ts';
import { NOTHING_OPEN } from '../evidence/open-file.ts';
import { Revealer } from '../evidence/revealer.ts';
import { revealerFor } from '../store/disclosure-file.ts';
import { createVerifier, parseRecord, type Verifier } from '../transcript/index.ts';
import { examineAudit } from './audit-evidence.ts';
import { entryLine } from './audit-words.ts';
import { statusWith, told, unreadable, type Disclosures } from './disclosures.ts';
import { fitted } from './fit.ts';
import { CommandError, type ExitStatus, type Io, type Output, type Style } from './io.ts';
import { knowledgeOf } from './knowledge.ts';
import { given } from './options.ts';
import { committedLines } from './show-committed.ts';
import { foundWords, type Leads } from './transcript-words.ts';
import { isCut, judge, type Reading } from './verdict.ts';
import { oneLine } from './words.ts';

interface Flags {
  readonly full?: true;
  readonly allowOpen?: true;
}

const HELP = `
The file is verified as it is shown, with what lies around it, and the last
lines say what was found. A broken file is shown up to its fault.

Exit status: 0 it holds, 1 it has a fault (shown up to there), 2 it can't be
read.
`;

/** Declares the command. */
export function register(command: Command, io: Io, exit: (status: number) => void): void {
  command
    .argument('<file>', 'a transcript or an audit log')
    .option('--full', 'cut nothing, however long')
    .option('--allow-open', 'accept a transcript without a final record')
    .addHelpText('after', HELP)
    .action(async (file: string, flags: Flags) => {
      exit(await show(file, flags, io));
    });
}

async function show(file: string, { full, allowOpen }: Flags, io: Io): Promise<ExitStatus> {
  const { out } = io;
  const view = { full: full === true, style: out.style };
  const { revealer, problem: unopened } = await disclosuresFor(file);
  const knowledge = await knowledgeOf(io);
  // A catalogue never ends.
  const wanted = given({ allowOpen: allowOpen ?? (isCatalog(file) || undefined) });
  const examination = await Examination.of(file, knowledge);
  const { verdict: chain, problem } = await judge(file, (isAudit) =>
    isAudit
      ? printing(createAuditVerifier(), entryPrinter(view, out), out)
      : printing(
          createVerifier(wanted, examination.onRecord),
          recordPrinter(view, revealer, out),
          out,
        ),
  );
  if (problem !== undefined) throw new CommandError(`${oneLine(file)}: ${oneLine(problem)}`);
  const verdict =
    'log' in chain
      ? await examineAudit(file, chain, knowledge, { displaced: examination.displaced })
      : await examination.end(chain);
  const opened = 'log' in verdict ? undefined : openedBy(verdict, unopened, revealer);
  out.line(fitted(foundWords({ file, verdict, opened }, leadsOf(out), out.style), out));
  return statusWith(verdict.ok, opened);
}

function leadsOf({ style }: Output): Leads {
  return {
    good: `${style('good', 'intact')} `,
    bad: `${style('bad', 'FAULT')}  `,
    open: `${style('warning', '?')}      `,
  };
}

/** What was found of the disclosures, if all records were read. */
function openedBy(
  { fault, sealed }: Examined,
  unopened: Disclosures | undefined,
  revealer: Revealer,
): Disclosures | undefined {
  return isCut(fault) ? undefined : (unopened ?? told(revealer, sealed));
}

/** What puts records together again, or why nothing does. */
async function disclosuresFor(
  file: string,
): Promise<{ readonly revealer: Revealer; readonly problem?: Disclosures }> {
  try {
    return { revealer: await revealerFor(file) };
  } catch (error) {
    return { revealer: new Revealer(NOTHING_OPEN), problem: unreadable(error) };
  }
}

interface View {
  readonly full: boolean;
  readonly style: Style;
}

function recordPrinter(view: View, revealer: Revealer, out: Output): (line: string) => void {
  let turn = 0;
  return (line) => {
    const revealed = revealer.reveal(parseRecord(line));
    if (revealed.record.kind === 'assistant') turn += 1;
    for (const text of committedLines(revealed, { ...view, turn })) out.line(text);
    out.line();
  };
}

function entryPrinter(view: View, out: Output): (line: string) => void {
  let goal: string | undefined;
  return (line) => {
    const entry = parseEntry(line);
    out.line(entryLine(entry, { ...view, goal }));
    ({ goal } = entry);
  };
}

/** After so many lines the event loop gets a turn, in which a closed pipe is noticed. */
const BETWEEN_TURNS = 64;

/** Prints each line once the verifier has accepted it, from the same bytes. */
function printing(
  verifier: Verifier | AuditVerifier,
  print: (line: string) => void,
  out: Output,
): Reading {
  // Copies of the pieces of a line whose end hasn't come yet.
  let begun: Uint8Array[] = [];
  async function push(piece: Uint8Array): Promise<void> {
    let start = 0;
    for (let end = piece.indexOf(0x0a); end !== -1; end = piece.indexOf(0x0a, start)) {
      const rest = piece.subarray(start, end + 1);
      const { count } = verifier.head;
      verifier.push(rest);
      // Where nobody reads any more, the exit status is still the verdict.
      if (verifier.head.count > count && !out.broken) {
        print(Buffer.concat([...begun, rest]).toString());
        if (count % BETWEEN_TURNS === 0) await setImmediate();
      }
      begun = [];
      start = end + 1;
    }
    verifier.push(piece.subarray(start));
    begun.push(piece.slice(start));
  }
  return { verifier, push };
}
