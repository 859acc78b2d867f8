/**
 * Golden transcripts: a test that fails when a prompt, a tool's schema or a tool's answer is not as recorded.
 *
 * @module
 */
import { AssertionError } from 'node:assert';
import { type ReplayOptions } from '../replay/given.ts';
import { replay, type Replay } from '../replay/replay.ts';
import { differenceText } from '../run/differences.ts';

/**
 * Replays a transcript with what a run would be given today, and requires that it comes out as recorded. For any
 * test runner: it resolves, or rejects with an error that names everything that changed.
 *
 * @param given tools are run on the recorded calls, with their effects. What isn't given isn't compared.
 * @throws {AssertionError} with what changed: the transcript itself, the task, the system prompt, a budget, a
 * tool's definition, a tool's answer.
 */
export async function expectReplay(
  transcript: string | URL,
  given: ReplayOptions = {},
): Promise<void> {
  const found = problems(await replay(transcript, given));
  if (found.length === 0) return;
  const message = `${String(transcript)} does not replay:\n${found.map((problem) => `- ${problem}`).join('\n')}`;
  throw new AssertionError({ message, stackStartFn: expectReplay });
}

function problems({ verdict, sealed, divergence, differences, live }: Replay): string[] {
  const { fault } = verdict;
  return [
    ...(fault === undefined ? [] : [`record ${fault.seq}: ${fault.reason}: ${fault.detail}`]),
    ...(sealed || fault !== undefined ? [] : ['the run in it has not ended']),
    ...differences.map(differenceText),
    ...(divergence === undefined ? [] : [`record ${divergence.seq}: ${divergence.detail}`]),
    ...(live?.changed ?? []).map(
      ({ seq, call, was, is }) =>
        `record ${seq}: ${call.tool}(${cut(call.arguments)}) answered ${cut(was.text)}, and now ${cut(is.text)}`,
    ),
  ];
}

const SHOWN_LENGTH = 200;

function cut(text: string): string {
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH).toWellFormed()}…` : text;
}
