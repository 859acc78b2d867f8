/**
 * A success check that is a shell command: exit status 0 means verified.
 *
 * @module
 */
import { type Check } from '../run/options.ts';
import { CappedText } from './tools/capped-text.ts';
import { runCommand } from './tools/process-group.ts';
import { cut } from './words.ts';

/** The loop gives a check up after 10 minutes and aborts it; this only has to be later. */
const MILLISECONDS = 700_000;
const DETAIL_LENGTH = 300;

/** A check that runs a command in a folder; its detail is the last line that the command printed. */
export function commandCheck(command: string, cwd: string): Check {
  return async ({ signal }) => {
    const output = new CappedText();
    const ended = await runCommand(command, {
      cwd,
      signal,
      milliseconds: MILLISECONDS,
      onOutput: (_stream, bytes) => output.add(bytes),
    });
    const last = output.text().trimEnd().split('\n').at(-1) ?? '';
    const how =
      ended.exitCode === null ? `ended by ${ended.signal ?? 'a signal'}` : `exit ${ended.exitCode}`;
    const ok = ended.exitCode === 0;
    if (last === '') return { ok, detail: how };
    return { ok, detail: ok ? cut(last, DETAIL_LENGTH) : `${how}: ${cut(last, DETAIL_LENGTH)}` };
  };
}
