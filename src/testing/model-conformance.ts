/**
 * The conformance suite of models: what an adapter must do, shown against a stub provider.
 *
 * @module
 */
import { type Model } from '../run/model.ts';
import { fakeClock } from './clock.ts';
import {
  STUB_KEY,
  type Case,
  type ConformanceOptions,
  type ConformanceSettings,
} from './conformance-case.ts';
import { CONVERSATION_CASES } from './conformance-conversations.ts';
import { FAILURE_CASES } from './conformance-failures.ts';
import { REPLY_CASES } from './conformance-replies.ts';
import { startProvider, type StubProvider } from './provider.ts';

/** One case, to be run by any test runner; it rejects if the model fails it. */
export interface ConformanceTest {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/**
 * The suite for one API, streamed or not.
 *
 * @param make gives the model under test, which talks to the given provider with the given settings. Its
 * retries are expected to be the default policy's: three attempts, waits of 0.5 s and 1 s.
 */
export function modelConformance(
  make: (provider: StubProvider, settings: ConformanceSettings) => Model,
  options: ConformanceOptions,
): readonly ConformanceTest[] {
  return [...REPLY_CASES, ...FAILURE_CASES, ...CONVERSATION_CASES]
    .filter((test) => test.when?.(options) ?? true)
    .map((test) => ({ name: test.name, run: () => runCase(test, make, options) }));
}

async function runCase(
  test: Case,
  make: (provider: StubProvider, settings: ConformanceSettings) => Model,
  options: ConformanceOptions,
): Promise<void> {
  // Pieces of 7 bytes split events and characters in every way there is.
  const provider = await startProvider({ turns: test.turns, pieceBytes: 7 });
  try {
    const clock = fakeClock(0);
    const model = make(provider, { stream: options.stream, clock, apiKey: STUB_KEY });
    await test.run({ ...options, provider, model, clock });
    provider.finish();
  } finally {
    await provider.close();
  }
}
