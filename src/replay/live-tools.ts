/**
 * Runs real tools on recorded calls, and compares what they answer.
 *
 * @module
 */
import { sha256Hex } from '#sha256';
import { executeCall, prepareCall } from '../run/call.ts';
import { type RunContext } from '../run/context.ts';
import { Cancellation } from '../run/deadline.ts';
import { type TurnCall } from '../run/payloads.ts';
import { type Settings } from '../run/settings.ts';
import { canonicalJson } from '../transcript/index.ts';
import { type OnAnswer } from './recorded.ts';

/** What a tool says to a call. */
export interface Said {
  readonly ok: boolean;
  /** Canonical JSON of the value, or the error. */
  readonly text: string;
  /** SHA-256 of a result that was too large to keep, hex. */
  readonly digest?: string;
  /** Canonical JSON of the arguments that the tool got, where a schema changed them. */
  readonly given?: string;
}

/** A call that a tool answers otherwise now. */
export interface ChangedAnswer {
  /** The record of the answer. */
  readonly seq: number;
  readonly call: { readonly id: string; readonly tool: string; readonly arguments: string };
  readonly was: Said;
  readonly is: Said;
}

/** What came of comparing. */
export interface LiveAnswers {
  /** Calls that ran again. */
  readonly ran: number;
  /** Calls that did not: in the recording they were not run either, or had no end of their own. */
  readonly skipped: number;
  readonly changed: readonly ChangedAnswer[];
}

/** The failures of calls that have no answer of a tool's own. */
const NO_ANSWER: ReadonlySet<string | undefined> = new Set([
  'not_run',
  'denied',
  'interrupted',
  'abandoned',
  'timed_out',
]);

/** Compares every answer of a replay with what the tools of `settings` say. */
export function liveAnswers(settings: Settings): { onAnswer: OnAnswer; result: () => LiveAnswers } {
  const changed: ChangedAnswer[] = [];
  let ran = 0;
  let skipped = 0;
  return {
    async onAnswer(context, recorded) {
      if (NO_ANSWER.has(recorded.failure)) {
        skipped += 1;
        return;
      }
      ran += 1;
      const { call } = recorded;
      const { ok, text, digest, given } = recorded;
      const was = {
        ok,
        text,
        ...(digest === undefined ? {} : { digest }),
        ...(given === undefined ? {} : { given }),
      };
      // A system that honours idempotency keys must not give the old answer again.
      const is = await runAgain(
        { ...context, settings, origin: `replay of ${context.origin}` },
        call,
      );
      if (canonicalJson(was) === canonicalJson(is)) return;
      changed.push({
        seq: context.store.head.count,
        call: { id: call.id, tool: call.name, arguments: call.raw ?? call.text },
        was,
        is,
      });
    },
    result: () => ({ ran, skipped, changed }),
  };
}

async function runAgain(context: RunContext, call: TurnCall): Promise<Said> {
  const prepared = await prepareCall(context, call);
  const result = prepared.ready
    ? await executeCall(context, call, prepared, new Cancellation())
    : prepared.result;
  const given = prepared.given === undefined ? {} : { given: prepared.given };
  if (result.ok) return { ok: true, text: result.text, ...given };
  const digest = result.text === undefined ? {} : { digest: sha256Hex(result.text) };
  return { ok: false, text: result.error, ...digest, ...given };
}
