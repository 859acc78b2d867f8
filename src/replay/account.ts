/**
 * A short account of what a run did from some moment on.
 *
 * @module
 */
import { canonicalJson, isJsonObject, type JsonValue } from '../transcript/index.ts';
import { shortened } from './first-difference.ts';
import { type Moment } from './moments.ts';

/** A call, and what it was answered. Texts are cut short. */
export interface CallStep {
  readonly tool: string;
  /** Canonical JSON, or the model's own text where that was none. */
  readonly arguments: string;
  /** Null if the record ends before. `text` is canonical JSON of the value, or the error. */
  readonly answer: {
    readonly seq: number;
    readonly ok: boolean;
    readonly text: string;
    readonly failure: string | null;
  } | null;
}

/** What a run did. Texts are cut short. */
export type Step =
  | {
      readonly kind: 'turn';
      readonly seq: number;
      /** Which turn of the run, from 1. */
      readonly turn: number;
      readonly text: string;
      readonly calls: readonly CallStep[];
      /** Further calls, which are not told. */
      readonly left: number;
    }
  | {
      readonly kind: 'stop';
      readonly seq: number;
      readonly reason: string;
      readonly error: string | null;
      /** What `check` found; null if success was not checked. */
      readonly check: { readonly ok: boolean; readonly detail: string } | null;
    }
  /** A record of another program. */
  | { readonly kind: 'record'; readonly seq: number; readonly of: string; readonly text: string };

/** What a run did from some moment on. */
export interface Account {
  readonly steps: readonly Step[];
  /** Steps in between that are not told; how the run stopped always is. */
  readonly left: number;
}

/** So many steps are told, and so many calls of each. */
const MAX_STEPS = 4;
const MAX_CALLS = 8;
/** So much of a text is told. */
const TEXT_LENGTH = 200;

/** The account of a run from the moment with the index `start`. */
export function accountFrom(moments: readonly Moment[], start: number): Account {
  const steps: Step[] = [];
  let left = 0;
  for (let i = start; i < moments.length; i += 1) {
    const moment = moments[i];
    // A turn's step has the answers to its calls.
    if (moment === undefined || moment.kind === 'tool') continue;
    if (steps.length < MAX_STEPS || moment.kind === 'final') steps.push(stepAt(moments, i, moment));
    else left += 1;
  }
  return { steps, left };
}

function stepAt(moments: readonly Moment[], index: number, moment: Moment): Step {
  const { seq, kind, payload, turn } = moment;
  if (turn !== null) {
    const answers = moments.slice(index + 1, index + 1 + MAX_CALLS);
    const number = moments.slice(0, index + 1).filter((before) => before.turn !== null).length;
    const calls = turn.calls.slice(0, MAX_CALLS).map((call, i) => ({
      tool: short(call.name),
      arguments: short(call.raw ?? call.text),
      answer: answerOf(answers[i]),
    }));
    const left = turn.calls.length - calls.length;
    return { kind: 'turn', seq, turn: number, text: short(turn.content), calls, left };
  }
  if (kind !== 'final')
    return { kind: 'record', seq, of: short(kind), text: short(canonicalJson(payload, Infinity)) };
  const { reason, error, check } = payload;
  return {
    kind: 'stop',
    seq,
    reason: textOf(reason),
    error: error === undefined ? null : textOf(error),
    check: isJsonObject(check)
      ? { ok: check['ok'] === true, detail: textOf(check['detail']) }
      : null,
  };
}

function answerOf(moment: Moment | undefined): CallStep['answer'] {
  if (moment?.kind !== 'tool') return null;
  const { seq, payload } = moment;
  const { ok, value, error, failure } = payload;
  const text = ok === true ? canonicalJson(value, Infinity) : textOf(error);
  return {
    seq,
    ok: ok === true,
    text: short(text),
    failure: failure === undefined ? null : textOf(failure),
  };
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? short(value) : '';
}

function short(text: string): string {
  return shortened(text, TEXT_LENGTH);
}
