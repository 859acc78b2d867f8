/**
 * Conformance: failures, retries, waits and aborts.
 *
 * @module
 */
import assert from 'node:assert/strict';
import {
  ask,
  askInVain,
  isOpenAI,
  isStream,
  STUB_KEY,
  waitThenAdvance,
  type Case,
  type ConformanceOptions,
} from './conformance-case.ts';
import { type Delta, type FailedAttempt } from '../run/model.ts';
import { usageOf } from '../run/usage.ts';
import { type StubFault, type StubTurn } from './provider-script.ts';

const OK: StubTurn = { content: 'at last' };
const FIRST_WAIT_MS = 500;

const isAnthropic = (options: ConformanceOptions): boolean => !isOpenAI(options);

/** Failures after which the same request is sent again. */
const RETRIED: readonly (readonly [string, StubFault, Case['when']?])[] = [
  ['status 500', status(500)],
  ['status 408', status(408)],
  ['status 409', status(409)],
  ['status 529, overloaded', status(529, { type: 'overloaded_error' }), isAnthropic],
  [
    'status 200 with an error in it',
    { kind: 'error-body', error: { message: 'upstream', code: 502 } },
  ],
  ['a connection that broke', { kind: 'drop' }],
  ['a page instead of an answer', { kind: 'text', body: '<html>' }],
  [
    'an answer without a message',
    { kind: 'empty' },
    (options) => isAnthropic(options) && isStream(options),
  ],
  ['a cut in the middle', { kind: 'cut', afterBytes: 150 }],
  ['a cut after some events', { kind: 'cut', afterEvents: 3 }, isStream],
  ['an end before the end', { kind: 'short', afterEvents: 4 }, isStream],
  [
    'an error event after output',
    { kind: 'error-event', afterEvents: 4, type: 'overloaded_error' },
    isStream,
  ],
];

/** Waits that a provider asks for, in each of its ways. */
const WAITS: readonly (readonly [Readonly<Record<string, string>>, number])[] = [
  [{ 'retry-after': '2' }, 2000],
  [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1500],
  // The clock of a scene starts at the epoch.
  [{ 'retry-after': 'Thu, 01 Jan 1970 00:01:00 GMT' }, 60_000],
  [{ 'retry-after': 'soon' }, FIRST_WAIT_MS],
  [{}, FIRST_WAIT_MS],
];

/** Failures that end it at once, with 1000 seconds left, and what is then said. */
const FINAL: readonly (readonly [string, StubTurn, RegExp])[] = [
  [
    'a wait that the time budget has no room for is not entered',
    rateLimited({ 'retry-after': '1200' }),
    /^rate limited: the provider asks to wait 1200 s, and the time budget leaves 1000 s/,
  ],
  [
    'a wait longer than is allowed is not entered',
    rateLimited({ 'retry-after': '700' }),
    /^rate limited: the provider asks to wait 700 s, more than/,
  ],
  [
    'a quota that is used up is not asked for again',
    { fault: status(429, { code: 'insufficient_quota', type: 'insufficient_quota' }) },
    /^429 stub fault/,
  ],
  [
    'a request that is refused is not repeated',
    { fault: status(400, { message: 'no such thing' }) },
    /^400 no such thing \(request req_1\)$/,
  ],
];

/** Where an abort may find a call, with what the attempt that it ends is said to have used. */
const ABORTED: readonly (readonly [string, StubTurn, null | undefined, Case['when']?])[] = [
  ['in a silence after the headers', silent({ kind: 'silence', afterEvents: 0 }), null],
  ['in the middle of a stream', silent({ kind: 'silence', afterEvents: 3 }), null, isStream],
  ['in a silence after heartbeats', silent({ kind: 'pings', count: 3 }), null, isStream],
  ['while a retry is waited for', rateLimited({ 'retry-after': '60' }), undefined],
];

/** The cases. */
export const FAILURE_CASES: readonly Case[] = [
  ...WAITS.map(([headers, milliseconds]): Case => ({
    name: `a rate limit with ${JSON.stringify(headers)} is waited for`,
    turns: [rateLimited(headers), OK],
    async check(scene) {
      const asked = ask(scene, { secondsLeft: 100 });
      await waitThenAdvance(scene.clock, milliseconds - 1);
      assert.equal(scene.provider.requests.length, 1);
      await scene.clock.advance(1);
      const { content, failedAttempts = [] } = await asked;
      assert.equal(content, 'at last');
      assert.equal(failedAttempts.length, 1);
      assert.match(failedAttempts[0]?.error ?? '', /^429 stub fault/);
      assert.equal(failedAttempts[0]?.usage, undefined);
    },
  })),
  ...FINAL.map(([name, turn, message]): Case => ({
    name,
    turns: [turn],
    async check(scene) {
      const error = await askInVain(ask(scene, { secondsLeft: 1000 }));
      assert.match(error.message, message);
      assert.equal(scene.provider.requests.length, 1);
      // An error status can't have cost.
      assert.equal(error.failedAttempts.length, 1);
      assert.equal(error.failedAttempts[0]?.usage, undefined);
    },
  })),
  {
    name: 'a key never gets into a message',
    turns: [
      { fault: status(401, { message: 'Incorrect key: sk-abc***xyz, really' }) },
      { fault: status(401, { message: `Incorrect key: ${STUB_KEY}.` }) },
    ],
    async check(scene) {
      const error = await askInVain(ask(scene));
      assert.doesNotMatch(error.message, /sk-abc/);
      assert.match(error.message, /really/);
      const second = await askInVain(ask(scene));
      assert.match(second.message, /Incorrect key: <key>\./);
      assert.doesNotMatch(second.message, new RegExp(STUB_KEY));
    },
  },
  ...RETRIED.map(([what, fault, when]): Case => ({
    name: `${what}, then an answer`,
    when,
    turns: [{ content: 'not this, it never came to its end', fault }, OK],
    async check(scene) {
      let seen = '';
      const asked = ask(scene, { onDelta: ({ text }) => (seen += text) });
      await waitThenAdvance(scene.clock, FIRST_WAIT_MS);
      const { content, failedAttempts = [] } = await asked;
      assert.equal(content, 'at last');
      assert.equal(failedAttempts.length, 1);
      const [{ usage, streamed } = { usage: undefined }] = failedAttempts;
      // An error instead of an answer can't have cost.
      if (fault.kind === 'status' || fault.kind === 'error-body') assert.equal(usage, undefined);
      else {
        // What a broken answer cost nobody counted, but for input that was reported as it began.
        const isReported = isAnthropic(scene) && scene.stream && 'afterEvents' in fault;
        assert.deepEqual(usage, isReported ? usageOf({ input: 10 }) : null);
        assert.equal(streamed, seen.length - content.length);
        assert.equal(streamed > 0, 'afterEvents' in fault);
      }
    },
  })),
  {
    name: 'no second attempt where the budget leaves no room for it',
    turns: [{ content: 'cut', fault: { kind: 'cut', afterBytes: 20 } }],
    async check(scene) {
      const asked: (readonly FailedAttempt[])[] = [];
      const affords = (attempts: readonly FailedAttempt[]): boolean => asked.push(attempts) === 0;
      const error = await askInVain(ask(scene, { affords }));
      assert.match(error.message, /^the budget leaves no room for another attempt \(the conn/);
      assert.equal(error.failedAttempts.length, 1);
      assert.deepEqual(asked, [error.failedAttempts]);
    },
  },
  {
    name: 'it gives up after three attempts, and tells of all',
    turns: [500, 503, 500].map((code) => ({ fault: status(code) })),
    async check(scene) {
      const asked = askInVain(ask(scene));
      await waitThenAdvance(scene.clock, FIRST_WAIT_MS);
      await waitThenAdvance(scene.clock, FIRST_WAIT_MS * 2);
      const error = await asked;
      assert.match(error.message, /^500 stub fault \(request req_3\); gave up after 3 attempts$/);
      assert.deepEqual(
        error.failedAttempts.map(({ error: message }) => message.slice(0, 3)),
        ['500', '503', '500'],
      );
    },
  },
  // Aborts settle the call at once, wherever it is.
  ...ABORTED.map(([where, turn, usage, when]): Case => ({
    name: `an abort ${where}`,
    when,
    turns: [turn],
    async check(scene) {
      const controller = new AbortController();
      const asked = askInVain(ask(scene, { signal: controller.signal }));
      await scene.provider.arrived(1);
      if (usage === undefined) await waitThenAdvance(scene.clock, 1000);
      controller.abort();
      const error = await asked;
      assert.match(error.message, /aborted/);
      assert.equal(error.failedAttempts.length, 1);
      // Input that was reported may have come by then.
      assert.equal(error.failedAttempts[0]?.usage?.output ?? undefined, undefined);
      assert.equal(error.failedAttempts[0]?.usage === undefined, usage === undefined);
      assert.equal(scene.clock.pending, 0);
    },
  })),
  {
    name: 'an abort while output streams in',
    when: isStream,
    turns: [silent({ kind: 'silence', afterEvents: 4 })],
    async check(scene) {
      const controller = new AbortController();
      let seen = '';
      const onDelta = ({ text }: Delta): void => {
        seen += text;
        controller.abort();
      };
      const error = await askInVain(ask(scene, { signal: controller.signal, onDelta }));
      assert.match(error.message, /aborted/);
      const usage = isAnthropic(scene) ? usageOf({ input: 10 }) : null;
      assert.deepEqual(error.failedAttempts, [{ error: 'aborted', usage, streamed: seen.length }]);
    },
  },
  {
    name: 'a call that is aborted before it begins sends nothing',
    turns: [],
    async check(scene) {
      await askInVain(ask(scene, { signal: AbortSignal.abort() }));
      assert.equal(scene.provider.requests.length, 0);
    },
  },
];

function status(code: number, rest: object = {}): StubFault {
  return { kind: 'status', status: code, ...rest };
}

function silent(fault: StubFault): StubTurn {
  return { content: 'one two three four', fault };
}

function rateLimited(headers: Readonly<Record<string, string>>): StubTurn {
  return { fault: status(429, { type: 'rate_limit_error', headers }) };
}
