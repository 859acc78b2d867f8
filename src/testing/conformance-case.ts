/**
 * What the cases of the model conformance suite share.
 *
 * @module
 */
import assert from 'node:assert/strict';
import { setImmediate as immediate } from 'node:timers/promises';
import { type Clock } from '../run/clock.ts';
import {
  ModelError,
  type Model,
  type ModelReply,
  type ModelRequest,
  type ToolSpec,
} from '../run/model.ts';
import { type FakeClock } from './clock.ts';
import { type StubTurn } from './provider-script.ts';
import { type StubProvider } from './provider.ts';

/** What a model under test is made with. */
export interface ConformanceSettings {
  readonly stream: boolean;
  /** The clock for its waits: tests move it. */
  readonly clock: Clock;
  /** The key to send; it must not show up in any message. */
  readonly apiKey: string;
}

/** Which runs of the suite a case belongs to. */
export interface ConformanceOptions {
  readonly api: 'openai' | 'anthropic';
  readonly stream: boolean;
}

/** A case's surroundings: a stub provider, a model that talks to it, and a clock that stands still. */
export interface Scene extends ConformanceOptions {
  readonly provider: StubProvider;
  readonly model: Model;
  readonly clock: FakeClock;
}

/** A case before its surroundings are made. */
export interface Case {
  readonly name: string;
  /** Default: every run of the suite. */
  readonly when?: ((options: ConformanceOptions) => boolean) | undefined;
  readonly turns: readonly StubTurn[];
  readonly check: (scene: Scene) => Promise<void>;
}

/** The key that models under test are given. */
export const STUB_KEY = 'stub-key-0123456789';

/** A tool that the model is told of. */
export const ADD: ToolSpec = {
  name: 'add',
  description: 'Adds two integers.',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'integer' }, b: { type: 'integer' } },
    required: ['a', 'b'],
    additionalProperties: false,
  },
};

export const isStream = ({ stream }: ConformanceOptions): boolean => stream;
export const isOpenAI = ({ api }: ConformanceOptions): boolean => api === 'openai';

/** Asks a model, with a small conversation unless told otherwise. */
export async function ask(
  { model }: Pick<Scene, 'model'>,
  request: Partial<ModelRequest> = {},
): Promise<ModelReply> {
  return model({
    messages: [{ role: 'user', content: 'hi' }],
    tools: [ADD],
    maxOutputTokens: undefined,
    secondsLeft: undefined,
    signal: new AbortController().signal,
    affords: () => true,
    onWait: () => undefined,
    onDelta: () => undefined,
    ...request,
  });
}

/** The error that asking ends with. */
export async function askInVain(asked: Promise<ModelReply>): Promise<ModelError> {
  try {
    await asked;
  } catch (error) {
    assert.ok(error instanceof ModelError, `expected a ModelError, got ${String(error)}`);
    return error;
  }
  return assert.fail('expected a ModelError, got a reply');
}

/** Moves the clock on as soon as somebody waits for it. */
export async function waitThenAdvance(clock: FakeClock, milliseconds: number): Promise<void> {
  while (clock.pending === 0) await immediate();
  await clock.advance(milliseconds);
}
