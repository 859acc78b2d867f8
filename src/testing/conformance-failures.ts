/**
 * Conformance: failures, retries, waits and aborts.
 *
 * @module
 */
import assert from 'node:assert/strict';
import {
  ask,
  askInVain,
  STUB_KEY,
  waitThenAdvance,
  type Case,
  type ConformanceOptions,
  type Scene,
} from './conformance-case.ts';
import { type StubFault, type StubTurn } from './provider-script.ts';

const OK: StubTurn = { content: 'at last' };
const FIRST_WAIT_MS = 500;

const isStream = ({ stream }: ConformanceOptions): boolean => stream;
const isAnthropic = ({ api }: ConformanceOptions): boolean => api === 'anthropic';
const isAnthropicStream = (options: ConformanceOptions): boolean =>
  isAnthropic(options) && isStream(options);

interface Retried {
  readonly what: string;
  readonly fault: StubFault;
  /** What the failed attempt is said to have used. */
  readonly usage: null | undefined;
  readonly when?: (options: ConformanceOptions) => boolean;
}

/** Failures after which the same request is sent again, and what each may have cost. */
const RETRIED: readonly Retried[] = [
  { what: 'status 500', fault: { kind: 'status', status: 500 }, usage: undefined },
  { what: 'status 408', fault: { kind: 'status', status: 408 }, usage: undefined },
  { what: 'status 409', fault: { kind: 'status', status: 409 }, usage: undefined },
  {
    what: 'status 529, overloaded',
    fault: { kind: 'status', status: 529, type: 'overloaded_error' },
    usage: undefined,
    when: isAnthropic,
  },
  {
    what: 'status 200 with an error in it',
    fault: { kind: 'error-body', error: { message: 'upstream', code: 502 } },
    usage: undefined,
  },
  { what: 'a connection that broke', fault: { kind: 'drop' }, usage: null },
  { what: 'a page instead of an answer', fault: { kind: 'text', body: '<html>' }, usage: null },
  {
    what: 'an answer without a message',
    fault: { kind: 'empty' },
    usage: null,
    when: isAnthropicStream,
  },
  { what: 'a cut in the middle', fault: { kind: 'cut', afterBytes: 150 }, usage: null },
  {
    what: 'a cut after some events',
    fault: { kind: 'cut', afterEvents: 3 },
    usage: null,
    when: isStream,
  },
  {
    what: 'an end before the end',
    fault: { kind: 'short', afterEvents: 4 },
    usage: null,
    when: isStream,
  },
  {
    what: 'an error event after output',
    fault: { kind: 'error-event', afterEvents: 4, type: 'overloaded_error' },
    usage: null,
    when: isStream,
  },
];

/** The cases. */
export const FAILURE_CASES: readonly Case[] = [
  ...waitCases(),
  {
    name: 'a wait that the time budget has no room for is not entered',
    turns: [rateLimited({ 'retry-after': '120' })],
    async run(scene) {
      const error = await askInVain(ask(scene, { secondsLeft: 30 }));
      assert.match(
        error.message,
        /^rate limited: the provider asks to wait 120 s, and the time budget leaves 30 s/,
      );
      assert.equal(error.failedAttempts.length, 1);
      assert.equal(scene.provider.requests.length, 1);
    },
  },
  {
    name: 'a wait longer than is allowed is not entered',
    turns: [rateLimited({ 'retry-after': '3600' })],
    async run(scene) {
      const error = await askInVain(ask(scene));
      assert.match(error.message, /^rate limited: the provider asks to wait 3600 s/);
    },
  },
  {
    name: 'a quota that is used up is not asked for again',
    turns: [
      {
        fault: {
          kind: 'status',
          status: 429,
          code: 'insufficient_quota',
          type: 'insufficient_quota',
        },
      },
    ],
    async run(scene) {
      const error = await askInVain(ask(scene));
      assert.match(error.message, /^429 stub fault/);
      assert.equal(error.failedAttempts.length, 1);
    },
  },
  {
    name: 'a request that is refused is not repeated',
    turns: [{ fault: { kind: 'status', status: 400, message: 'no such thing' } }],
    async run(scene) {
      const error = await askInVain(ask(scene));
      assert.match(error.message, /^400 no such thing \(request req_1\)$/);
      assert.deepEqual(error.failedAttempts, [{ error: error.message }]);
    },
  },
  {
    name: 'a key never gets into a message',
    turns: [
      { fault: { kind: 'status', status: 401, message: 'Incorrect key: sk-abc***xyz, really' } },
      { fault: { kind: 'status', status: 401, message: `Incorrect key: ${STUB_KEY}.` } },
    ],
    async run(scene) {
      const error = await askInVain(ask(scene));
      assert.doesNotMatch(error.message, /sk-abc/);
      assert.match(error.message, /really/);
      const second = await askInVain(ask(scene));
      assert.match(second.message, /Incorrect key: <key>\./);
      assert.doesNotMatch(second.message, new RegExp(STUB_KEY));
    },
  },
  ...retriedCases(),
  {
    name: 'it gives up after three attempts, and tells of all',
    turns: [serverError(500), serverError(503), serverError(500)],
    async run(scene) {
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
  ...abortCases(),
];

/** Waits that a provider asks for, in each of its ways. */
function waitCases(): readonly Case[] {
  const waits: readonly (readonly [Readonly<Record<string, string>>, number])[] = [
    [{ 'retry-after': '2' }, 2000],
    [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1500],
    // The clock of a scene starts at the epoch.
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:01:00 GMT' }, 60_000],
    [{ 'retry-after': 'soon' }, FIRST_WAIT_MS],
    [{}, FIRST_WAIT_MS],
  ];
  return waits.map(([headers, milliseconds]) => ({
    name: `a rate limit with ${JSON.stringify(headers)} is waited for`,
    turns: [rateLimited(headers), OK],
    async run(scene: Scene) {
      const asked = ask(scene, { secondsLeft: 100 });
      await waitThenAdvance(scene.clock, milliseconds - 1);
      assert.equal(scene.provider.requests.length, 1);
      await scene.clock.advance(1);
      const reply = await asked;
      assert.equal(reply.content, 'at last');
      const failed = reply.failedAttempts ?? [];
      assert.equal(failed.length, 1);
      assert.match(failed[0]?.error ?? '', /^429 stub fault/);
      assert.equal(failed[0]?.usage, undefined);
    },
  }));
}

function retriedCases(): readonly Case[] {
  return RETRIED.map(({ what, fault, usage, when }) => ({
    name: `${what}, then an answer`,
    ...(when === undefined ? {} : { when }),
    turns: [{ content: 'not this, it never came to its end', fault }, OK],
    async run(scene: Scene) {
      const asked = ask(scene);
      await waitThenAdvance(scene.clock, FIRST_WAIT_MS);
      const reply = await asked;
      assert.equal(reply.content, 'at last');
      assert.equal(reply.failedAttempts?.length, 1);
      assert.equal(reply.failedAttempts[0]?.usage, usage);
    },
  }));
}

/** Aborts settle the call at once, wherever it is. */
function abortCases(): readonly Case[] {
  return [
    ...silenceCases(),
    {
      name: 'an abort while output streams in',
      when: isStream,
      turns: [{ content: 'one two three four', fault: { kind: 'silence', afterEvents: 4 } }],
      async run(scene) {
        const controller = new AbortController();
        const request = { signal: controller.signal, onDelta: () => controller.abort() };
        const error = await askInVain(ask(scene, request));
        assert.match(error.message, /aborted/);
      },
    },
    {
      name: 'an abort while a retry is waited for',
      turns: [rateLimited({ 'retry-after': '60' })],
      async run(scene) {
        const controller = new AbortController();
        const asked = askInVain(ask(scene, { signal: controller.signal }));
        await waitThenAdvance(scene.clock, 1000);
        controller.abort();
        const error = await asked;
        assert.match(error.message, /aborted/);
        assert.equal(error.failedAttempts.length, 1);
        assert.equal(scene.clock.pending, 0);
      },
    },
    {
      name: 'a call that is aborted before it begins sends nothing',
      turns: [],
      async run(scene) {
        await askInVain(ask(scene, { signal: AbortSignal.abort() }));
        assert.equal(scene.provider.requests.length, 0);
      },
    },
  ];
}

/** Nothing comes any more, and the loop gives up. */
function silenceCases(): readonly Case[] {
  const silences: readonly (readonly [string, StubFault, boolean])[] = [
    ['after the headers', { kind: 'silence', afterEvents: 0 }, false],
    ['in the middle of a stream', { kind: 'silence', afterEvents: 3 }, true],
    ['after heartbeats', { kind: 'pings', count: 3 }, true],
  ];
  return silences.map(([where, fault, onlyStream]) => ({
    name: `an abort in a silence ${where}`,
    when: ({ stream }: ConformanceOptions) => stream || !onlyStream,
    turns: [{ content: 'hello', fault }],
    async run(scene: Scene) {
      const controller = new AbortController();
      const asked = askInVain(ask(scene, { signal: controller.signal }));
      await scene.provider.arrived(1);
      controller.abort();
      const error = await asked;
      assert.match(error.message, /aborted/);
      // What the provider did until then nobody counted.
      assert.deepEqual(error.failedAttempts, [{ error: 'aborted', usage: null }]);
    },
  }));
}

function rateLimited(headers: Readonly<Record<string, string>>): StubTurn {
  return { fault: { kind: 'status', status: 429, type: 'rate_limit_error', headers } };
}

function serverError(status: number): StubTurn {
  return { fault: { kind: 'status', status } };
}
