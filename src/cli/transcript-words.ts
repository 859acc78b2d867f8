/**
 * What was found about a transcript, as `verify` and `show` tell it: its verdict, the evidence, its disclosures.
 *
 * @module
 */
import { type Examined } from '../attest/examine.ts';
import { type ExaminedAudit } from './audit-evidence.ts';
import { auditFault, auditStanding } from './audit-words.ts';
import { disclosureWords, openFault, type Disclosures } from './disclosures.ts';
import { evidenceLines } from './evidence-words.ts';
import { type Style } from './io.ts';
import { faultWords, headWords, isCut, meaning, standing, stateWords } from './verdict.ts';
import { oneLine } from './words.ts';

/** What was found about a file that could be graded. */
export interface Found {
  readonly file: string;
  readonly verdict: Examined | ExaminedAudit;
  readonly opened?: Disclosures | undefined;
}

/** How a verdict begins: it holds, it has a fault, it could not be graded; a file's name may follow. */
export interface Leads {
  readonly good: string;
  readonly bad: string;
  readonly open: string;
}

/** The verdict and what it means, and below it a line for each evidence and for the disclosures. */
export function foundWords(found: Found, leads: Leads, style: Style): string {
  const { verdict } = found;
  if ('log' in verdict) {
    const { good, bad } = leads;
    const words = verdict.ok ? good + auditStanding(verdict, style) : bad + auditFault(verdict);
    const isWhole = verdict.fault?.reason !== 'torn_tail';
    return [words, ...evidenceLines(verdict, isWhole, style)].join('\n');
  }
  const evidence = evidenceLines(verdict, !isCut(verdict.fault), style);
  const words = [verdictWords(found, verdict, leads, style), ...evidence].join('\n');
  return words + disclosureWords(found.opened, verdict.ok, style);
}

function verdictWords(
  { file, opened }: Found,
  verdict: Examined,
  { good, bad, open }: Leads,
  style: Style,
): string {
  const { fault } = verdict;
  if (fault !== undefined) {
    return `${bad}${faultWords(fault)}\n       ${meaning(fault, verdict)}`;
  }
  const beside = openFault(file, opened);
  if (beside === undefined) return good + standing(verdict, style);
  const { reason, line, detail } = beside;
  const holds = `The transcript itself holds: ${stateWords(verdict)}.`;
  const words =
    reason === 'unreadable'
      ? `${open}not graded: its disclosures can't be compared: ${oneLine(detail)}\n       ${holds} Mend that, or move the file away: then the values in it are withheld.`
      : `${bad}${reason}: line ${line} of ${oneLine(beside.file)}: ${oneLine(detail)}\n       ${holds} Put that file back as it was written, or take the line out: then its value is withheld.`;
  return `${words}\n${headWords(verdict, style)}`;
}
