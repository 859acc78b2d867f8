/**
 * Episodes in plain words, beside what is said of any run.
 *
 * @module
 */
import { type Episode, type EpisodeEvent } from '../computer/index.ts';
import { shellPath } from '../store/shell-path.ts';
import { count, oneLine } from './words.ts';

/** The outcome of the run, as the episode sees it. */
export function outcomeOf({ outcome, claim, check }: Episode): Episode['outcome'] {
  return { ...outcome, answer: claim, check };
}

/** What an action came to, without all that is on the screen. */
export function did({ ok, content, call }: Extract<EpisodeEvent, { type: 'tool-end' }>): string {
  const said = /^\{"did":("(?:[^"\\]|\\.)*")/.exec(content)?.[1];
  if (said !== undefined) return String(JSON.parse(said));
  return ok && call.name === 'look' ? 'saw the screen' : content;
}

/** What is said of an episode beside its run. */
export function rows({ result, audit, alerts, steps, screenshot }: Episode): string[] {
  return [
    `episode   ${result}, ${count(steps, 'action')}${alerts.length === 0 ? '' : `, ${count(alerts.length, 'alert')}`}`,
    ...(audit === undefined ? [] : auditRows(audit)),
    `picture   ${screenshot === undefined ? 'none could be kept' : oneLine(screenshot.path)}`,
    ...(audit === undefined
      ? []
      : [`          npx hashtape verify ${shellPath(oneLine(audit.location))}`]),
  ];
}

function auditRows({ location, entries, torn }: NonNullable<Episode['audit']>): string[] {
  const log = `audit     ${oneLine(location)}, ${entries === 1 ? '1 entry' : `${entries} entries`}`;
  if (torn === undefined) return [log];
  return [
    log,
    `          its last line was unfinished; the bytes are kept in ${oneLine(torn.kept)}`,
  ];
}
