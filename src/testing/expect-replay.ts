/**
 * Golden transcripts: a test that fails when a prompt, a tool's schema or a tool's answer is not as recorded.
 *
 * @module
 */
import { AssertionError } from 'node:assert';
import { type ReplayOptions } from '../replay/given.ts';
import { replay, type Replay } from '../replay/replay.ts';
import { differenceText } from '../run/differences.ts';
import { type RunOptions } from '../run/options.ts';
import { type Fault } from '../transcript/index.ts';

/** What a run is given, or the part of it that its authors change. What no record holds is passed over. */
export type GoldenJob = Partial<RunOptions>;

/**
 * Replays a transcript, and requires that it comes out as recorded. For any test runner: it resolves, or rejects
 * with an error that names everything that changed.
 *
 * @param job what a run would be given today, whole: a system prompt, tools or a budget that are left out count as
 * gone. Its tools are **run** on the recorded calls, with their effects. Without a job nothing is compared with it.
 * @throws {AssertionError} with what changed: the transcript itself, the task, the system prompt, a budget, a
 * tool's definition, a tool's answer.
 */
export async function expectReplay(transcript: string | URL, job?: GoldenJob): Promise<void> {
  const found = problems(await replay(transcript, job === undefined ? {} : comparable(job)));
  if (found.length === 0) return;
  const message = `${String(transcript)} does not replay:\n${found.map((problem) => `- ${problem}`).join('\n')}`;
  throw new AssertionError({ message, stackStartFn: expectReplay });
}

function comparable(job: GoldenJob): ReplayOptions {
  const { task, system, tools, budget, sentinel, maxOutputTokens, watchdog } = job;
  const given = { task, system, tools, budget, sentinel, maxOutputTokens, watchdog };
  return { ...given, whole: true, live: tools !== undefined };
}

function problems({
  verdict,
  sealed,
  divergence,
  withheldFrom,
  differences,
  live,
}: Replay): string[] {
  const { fault } = verdict;
  return [
    ...(fault === undefined ? [] : [faultText(fault)]),
    ...(sealed || fault !== undefined ? [] : ['the run in it has not ended']),
    ...differences.map(differenceText),
    ...(divergence === undefined ? [] : [`record ${divergence.seq}: ${divergence.detail}`]),
    ...(withheldFrom === undefined
      ? []
      : [`record ${withheldFrom}: values are withheld, so it and what follows were not compared`]),
    ...(live?.changed ?? []).map(
      ({ seq, call, was, is }) =>
        `record ${seq}: ${call.tool}(${cut(call.arguments)}) answered ${cut(was.text)}, and now ${cut(is.text)}`,
    ),
  ];
}

function faultText({ seq, reason, detail }: Fault): string {
  return reason === 'unreadable'
    ? `it can't be read: ${detail}`
    : `record ${seq}: ${reason}: ${detail}`;
}

const SHOWN_LENGTH = 200;

function cut(text: string): string {
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH).toWellFormed()}…` : text;
}
