import { describe, expect, test } from 'vitest';
import { bodyError, brokenReply, requestError } from '../../src/models/failure.ts';
import { fakeClock } from '../../src/testing/clock.ts';
import { type JsonValue } from '../../src/transcript/index.ts';

const CONTEXT = { secrets: ['s3cr3t-key'], clock: fakeClock() };

const http = (status: number, rest: object = {}, headers: Record<string, string> = {}): Error =>
  Object.assign(new Error(`${status} from the SDK`), {
    status,
    headers: new Headers(headers),
    ...rest,
  });

const broken = (code: string): Error =>
  new Error('Connection error.', {
    cause: new TypeError('fetch failed', {
      cause: Object.assign(new Error('connect 10.0.0.1:443'), { code }),
    }),
  });

const failureOf = (error: unknown) => requestError(error, CONTEXT).failure;

describe('statuses', () => {
  test.each([
    [400, false],
    [401, false],
    [402, false],
    [403, false],
    [404, false],
    [408, true],
    [409, true],
    [413, false],
    [422, false],
    [429, true],
    [500, true],
    [502, true],
    [503, true],
    [529, true],
  ])('%i: worth another try: %s', (status, retryable) => {
    const failure = failureOf(http(status));
    expect(failure).toMatchObject({ retryable, message: `${status} from the SDK` });
    expect(failure.usage).toBeUndefined();
  });

  test('the server knows better', () => {
    expect(failureOf(http(500, {}, { 'x-should-retry': 'false' })).retryable).toBe(false);
    expect(failureOf(http(400, {}, { 'x-should-retry': 'true' })).retryable).toBe(true);
  });

  test.each([
    [{ code: 'insufficient_quota' }],
    [{ type: 'insufficient_quota' }],
    [{ error: { type: 'insufficient_quota' } }],
  ])('a quota that is used up: %j', (error) => {
    const failure = failureOf(http(429, { error }, { 'x-should-retry': 'true' }));
    expect(failure.retryable).toBe(false);
  });

  test.each([
    [429, {}, 'rate limited'],
    [503, { type: 'rate_limit_error' }, 'rate limited'],
    [529, {}, 'overloaded'],
    [500, { error: { type: 'overloaded_error' } }, 'overloaded'],
    [503, {}, 'status 503'],
  ])('%i with %j is called %s', (status, error, label) => {
    expect(failureOf(http(status, { error })).label).toBe(label);
  });

  test('the wait that is asked for', () => {
    expect(failureOf(http(429, {}, { 'retry-after': '7' })).retryAfterMs).toBe(7000);
  });
});

describe('words', () => {
  test.each<[string, unknown, string]>([
    ['of OpenAI', { message: 'No.' }, '400 No. (request req_7)'],
    ['of Anthropic', { type: 'error', error: { message: 'No.' } }, '400 No. (request req_7)'],
    ['as a string', 'No.', '400 No. (request req_7)'],
    ['absent', undefined, '400 from the SDK (request req_7)'],
    [
      'with a key',
      { message: 'key s3cr3t-key, sk-proj-ab*cd' },
      '400 key <key>, <key> (request req_7)',
    ],
    ['with a bearer', { message: 'Bearer abc.def no' }, '400 Bearer <key> no (request req_7)'],
    [
      'on a page',
      { message: '<html>\n<p>Bad <b>gateway</b></p>' },
      '400 Bad gateway (request req_7)',
    ],
  ])('%s', (_, error, message) => {
    expect(failureOf(http(400, { error }, { 'x-request-id': 'req_7' })).message).toBe(message);
  });

  test('long ones are cut, and stay text', () => {
    const { message } = failureOf(http(400, { error: { message: `x${'😀'.repeat(5000)}` } }));
    expect(message.length).toBeLessThan(1010);
    expect(message.isWellFormed()).toBe(true);
  });

  test.each([' ', '<', '<a', '\\a', '/a', 'sk-', 'Bearer ', '"'])(
    'a megabyte of %j is cut before anything looks at it',
    (piece) => {
      const hostile = `x${piece.repeat(1_000_000 / piece.length)} late`;
      // White space and tags are taken out, so a later word would show up.
      for (const error of [http(400, { error: { message: hostile } }), new Error(hostile)]) {
        const { message } = failureOf(error);
        expect(message).not.toContain('late');
        expect(message.length).toBeLessThan(1010);
      }
    },
  );

  test('half of a key is not shown where a text is cut', () => {
    const { message } = failureOf(
      http(400, { error: { message: `${' '.repeat(1995)}s3cr3t-key` } }),
    );
    expect(message).toBe('400 <key>');
  });

  test('a request id that is none is left out', () => {
    const error = http(400, {}, { 'x-request-id': 'a b <script>' });
    expect(failureOf(error).message).toBe('400 from the SDK');
  });
});

describe('connections', () => {
  test.each([
    ['ECONNREFUSED', true, undefined],
    ['ENOTFOUND', true, undefined],
    ['UND_ERR_CONNECT_TIMEOUT', true, undefined],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', false, undefined],
    ['CERT_HAS_EXPIRED', false, undefined],
    ['ECONNRESET', true, null],
    ['UND_ERR_SOCKET', true, null],
    ['UND_ERR_HEADERS_TIMEOUT', true, null],
  ])('%s', (code, retryable, usage) => {
    const failure = failureOf(broken(code));
    expect(failure).toMatchObject({ message: `connection failed: ${code}`, retryable });
    expect(failure.usage).toBe(usage);
  });

  test('several addresses were tried', () => {
    const refused = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
    const error = new TypeError('fetch failed', { cause: new AggregateError([refused]) });
    expect(failureOf(error).message).toBe('connection failed: ECONNREFUSED');
  });

  test('without a code', () => {
    expect(failureOf(new TypeError('terminated'))).toMatchObject({
      message: 'connection failed: no answer',
      usage: null,
    });
  });

  test('causes in a circle', () => {
    const error = new Error('round');
    error.cause = error;
    expect(failureOf(error)).toMatchObject({ message: 'round', retryable: false });
  });
});

test.each([300, 302, 304])('%i is no answer, cost nothing and is not repeated', (status) => {
  const { message, retryable, usage } = failureOf(http(status));
  expect(message).toBe(
    `${status} instead of an answer: the server sends elsewhere, or to a cache; check baseURL`,
  );
  expect([retryable, usage]).toEqual([false, undefined]);
});

test('redirections in a circle are not repeated', () => {
  const cause = new Error('redirect count exceeded');
  expect(failureOf(new TypeError('fetch failed', { cause }))).toMatchObject({
    message: 'connection failed: TOO_MANY_REDIRECTS',
    retryable: false,
  });
});

test.each([
  ['Cannot read /home/me/app/.env\n    at x (/a/b.js:1:2)', 'Cannot read <path>'],
  ['file:///home/me/x.js broke', '<path> broke'],
  ['C:\\Users\\me\\x.js broke', '<path> broke'],
  ['and/or is fine', 'and/or is fine'],
  ['see https://host.example/a/b', 'see https://host.example/a/b'],
])('errors of another kind show no stack and no path: %j', (words, message) => {
  expect(failureOf(new Error(words))).toMatchObject({ message, retryable: false });
});

test('what is thrown may be anything', () => {
  expect(failureOf('oops').message).toBe('oops');
  expect(failureOf(undefined).message).toBe('undefined');
  expect(failureOf(null).retryable).toBe(false);
});

describe('errors in an answer', () => {
  test.each<[JsonValue, string, boolean]>([
    [{ message: 'busy', type: 'server_error' }, 'busy', true],
    [{ message: 'busy', type: 'overloaded_error' }, 'busy', true],
    [{ message: 'busy', code: 503 }, '503 busy', true],
    [{ message: 'slow', code: 429 }, '429 slow', true],
    [{ message: 'no', code: 400 }, '400 no', false],
    [{ message: 'no', type: 'invalid_request_error' }, 'no', false],
    [{ message: 'no', code: 'context_length_exceeded' }, 'no', false],
    [{ type: 'authentication_error' }, 'authentication_error', false],
    ['busy', 'busy', true],
    [{}, 'no message', true],
  ])('%j', (error, message, retryable) => {
    const { failure } = bodyError(error, new Headers(), undefined, CONTEXT);
    expect(failure).toMatchObject({ message, retryable });
    expect(failure.usage).toBeUndefined();
    expect(bodyError(error, new Headers(), null, CONTEXT).failure.usage).toBeNull();
  });

  test('a broken answer has cost what nobody counted', () => {
    const { failure } = brokenReply('broke off', new Headers({ 'request-id': 'r1' }));
    expect(failure).toMatchObject({
      message: 'broke off (request r1)',
      retryable: true,
      usage: null,
    });
  });
});
