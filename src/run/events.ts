/**
 * What can be watched while a run goes on. Events are never part of the record.
 *
 * @module
 */
import { type JsonObject, type RecordLine } from '../transcript/index.ts';
import { type Outcome, type StopReason } from './outcome.ts';
import { type Delta, type ToolCall } from './model.ts';
import { isThenable } from './deadline.ts';
import { type Failure } from './payloads.ts';
import { type Spent } from './budget.ts';

/** One event. */
export type RunEvent =
  | {
      readonly type: 'run-start';
      readonly task: string;
      readonly location: string;
      /** How many records there were, if the run goes on from them. */
      readonly resumedFrom?: number;
      /** What was spent by then. */
      readonly spent?: Spent;
    }
  | { readonly type: 'turn-start'; readonly step: number; readonly spent: Spent }
  | ({ readonly type: 'delta'; readonly step: number } & { readonly delta: Delta })
  | {
      readonly type: 'turn-end';
      readonly step: number;
      readonly content: string;
      readonly toolCalls: readonly ToolCall[];
      readonly spent: Spent;
    }
  | {
      readonly type: 'permit';
      readonly call: ToolCall;
      /** What the tool will get. */
      readonly arguments: unknown;
      readonly decision: 'allow' | 'deny';
      readonly reason: string | undefined;
      readonly asked: boolean;
      /** What was wrong with the policy, or with asking. */
      readonly problem: string | undefined;
    }
  | { readonly type: 'tool-start'; readonly call: ToolCall }
  | {
      readonly type: 'tool-end';
      readonly call: ToolCall;
      readonly ok: boolean;
      /** The recorded value or error, as text. */
      readonly content: string;
      readonly failure: Failure | undefined;
      readonly note: string | undefined;
    }
  | {
      readonly type: 'repeated-call';
      readonly tool: string;
      readonly callId: string;
      readonly occurrences: number;
      /** SHA-256, hex; never the values. */
      readonly argumentsHash: string;
      readonly resultHash: string;
      readonly comparedBy: 'result' | 'arguments';
    }
  | { readonly type: 'stall-warning'; readonly repeats: number }
  | { readonly type: 'record'; readonly record: RecordLine; readonly payload: JsonObject }
  /** The success check begins. */
  | { readonly type: 'check-start'; readonly reason: StopReason }
  | { readonly type: 'run-end'; readonly outcome: Outcome };

const TYPES: { readonly [T in RunEvent['type']]: true } = {
  'run-start': true,
  'turn-start': true,
  delta: true,
  'turn-end': true,
  permit: true,
  'tool-start': true,
  'tool-end': true,
  'repeated-call': true,
  'stall-warning': true,
  record: true,
  'check-start': true,
  'run-end': true,
};

/** The types of all events. */
export const EVENT_TYPES: ReadonlySet<string> = new Set(Object.keys(TYPES));

/** A function for every event, or functions by event type. What they throw or return is ignored. */
export type Listeners =
  | ((event: RunEvent) => unknown)
  | { readonly [T in RunEvent['type']]?: (event: Extract<RunEvent, { type: T }>) => unknown };

/** Hands events to listeners. A listener that throws or rejects never reaches the run. */
export function emitter(listeners: Listeners | undefined): (event: RunEvent) => void {
  if (listeners === undefined) return () => undefined;
  return (event) => {
    try {
      const result: unknown =
        typeof listeners === 'function' ? listeners(event) : callTyped(listeners, event);
      if (isThenable(result)) Promise.resolve(result).catch(() => undefined);
    } catch {
      // A listener only watches: what goes wrong in it is its own affair.
    }
  };
}

function callTyped(
  listeners: Exclude<Listeners, (event: RunEvent) => unknown>,
  event: RunEvent,
): unknown {
  // TypeScript can't relate the two occurrences of the event's type: each listener takes its own.
  const listener = listeners[event.type] as ((event: RunEvent) => unknown) | undefined;
  return listener?.(event);
}
