/**
 * The contract of models as runnable cases, for any test runner: what an adapter must do, shown against a
 * stub provider.
 *
 * @module
 */
import { type Model } from '../run/model.ts';
import { type ConformanceCase } from '../store/conformance.ts';
import { fakeClock } from './clock.ts';
import { STUB_KEY, type ConformanceOptions, type ConformanceSettings } from './conformance-case.ts';
import { CONVERSATION_CASES } from './conformance-conversations.ts';
import { FAILURE_CASES } from './conformance-failures.ts';
import { REPLY_CASES } from './conformance-replies.ts';
import { startProvider, type StubProvider } from './provider.ts';

/**
 * The cases for one API, streamed or not.
 *
 * @param make gives the model under test, which talks to the given provider with the given settings. Its
 * retries are expected to be the default policy's: three attempts, waits of 0.5 s and 1 s.
 */
export function modelConformance(
  make: (provider: StubProvider, settings: ConformanceSettings) => Model,
  options: ConformanceOptions,
): readonly ConformanceCase[] {
  const cases = [...REPLY_CASES, ...FAILURE_CASES, ...CONVERSATION_CASES];
  return cases
    .filter(({ when }) => when?.(options) ?? true)
    .map(({ name, turns, check }) => ({
      name,
      async run() {
        // Pieces of 7 bytes split events and characters in every way there is.
        const provider = await startProvider({ turns, pieceBytes: 7 });
        try {
          const clock = fakeClock(0);
          const model = make(provider, { stream: options.stream, clock, apiKey: STUB_KEY });
          await check({ ...options, provider, model, clock });
          provider.finish();
        } finally {
          await provider.close();
        }
      },
    }));
}
