/**
 * The rules of `redact`: what each takes out of a record, and what is no rule.
 *
 * @module
 */
import { describe, expect, test } from 'vitest';
import { parseDisclosure } from '../../src/evidence/disclosure.ts';
import { holdsCommonSecret, PATTERNS } from '../../src/run/common-secrets.ts';
import { KnownTexts } from '../../src/run/known-texts.ts';
import { ANY, checkedRules, parseRule } from '../../src/run/redact-rules.ts';
import { Redactor } from '../../src/run/redactor.ts';
import { Verbatim, type JsonObject } from '../../src/transcript/index.ts';

describe('rules', () => {
  test.each([
    ['task', { of: 'task' }],
    ['common-secrets', { of: 'secrets' }],
    ['tools.login.arguments', { of: 'arguments', tool: 'login', path: [] }],
    ['tools.log-in_2.result', { of: 'result', tool: 'log-in_2', path: [] }],
    ['tools.*.arguments.a.*', { of: 'arguments', tool: ANY, path: ['a', ANY] }],
    ['tools.a.result[0].b[*]', { of: 'result', tool: 'a', path: ['0', 'b', ANY] }],
    ['tools.a.result.0', { of: 'result', tool: 'a', path: ['0'] }],
    ['tools.a.result["a.b"]["\\"*\\""]', { of: 'result', tool: 'a', path: ['a.b', '"*"'] }],
    ['tools.a.arguments.*name', undefined],
    ['tools["a"].arguments.ä', { of: 'arguments', tool: 'a', path: ['ä'] }],
  ])('%s', (text, rule) => {
    if (rule === undefined) expect(() => parseRule(text)).toThrow(/is no rule/);
    else expect(parseRule(text)).toEqual(rule);
  });

  test.each([
    '',
    ' task',
    'task.more',
    'Task',
    'user.content',
    'tools',
    'tools.login',
    'tools.login.password',
    'tools..arguments',
    '.tools.login.arguments',
    'tools.login.arguments.',
    'tools.login.arguments..a',
    'tools.login.arguments[',
    'tools.login.arguments[]',
    'tools.login.arguments[-1]',
    "tools.login.arguments['a']",
    'tools.login.arguments["a]',
    'tools.login.arguments["\\x"]',
    'tools.login.arguments.a b',
    'tool.login.arguments',
    'common-secret',
  ])('%j is none', (text) => {
    expect(() => parseRule(text)).toThrow(
      `redact: '${text}' is no rule; rules are tools.NAME.arguments`,
    );
  });

  test('are checked, sorted, and each kept once', () => {
    const tools = new Set(['a', 'b']);
    expect(checkedRules(['task', 'tools.b.result', 'task'], tools)).toEqual([
      'task',
      'tools.b.result',
    ]);
    expect(checkedRules([], tools)).toBeUndefined();
    expect(checkedRules(['tools.*.result'], new Set())).toEqual(['tools.*.result']);
    expect(() => checkedRules(['tools.c.result'], tools)).toThrow(
      "redact: 'tools.c.result' would take out nothing: the tools are a, b",
    );
    expect(() => checkedRules(['tools.c.result'], new Set())).toThrow('there are no tools');
    for (const bad of ['task', [1], null, { task: true }])
      expect(() => checkedRules(bad, tools)).toThrow('redact must be a list of texts');
  });
});

/** What is taken out of a record, as `name: value`, or `value` for an element. */
function taken(
  rules: readonly string[],
  kind: string,
  payload: JsonObject,
  known: string[] = [],
): string[] {
  const redactor = new Redactor(rules);
  for (const text of known) redactor.learn(text);
  const { disclosures, draft } = redactor.redact({ kind, payload });
  if (disclosures.length === 0) expect(draft.payload).toBe(payload);
  return disclosures
    .map((text) => parseDisclosure(text))
    .map(
      (found) =>
        `${found?.name === undefined ? '' : `${found.name}: `}${JSON.stringify(found?.value)}`,
    )
    .toSorted();
}

const TURN: JsonObject = {
  content: 'I say',
  stop: 'end',
  tool_calls: [
    {
      id: 'c1',
      name: 'login',
      arguments: new Verbatim('{"list":[{"k":1},{"k":"two"}],"user":"bob"}'),
      raw: '{ }',
    },
    { id: 'c2', name: 'other', arguments: { user: 'eve' }, raw: '{}' },
  ],
  provider: { signature: 'xyz' },
};
const VALUE: JsonObject = {
  call: 'c1',
  name: 'login',
  ok: true,
  given: { user: 'bob' },
  value: { rows: [1, { a: 2 }] },
};
const ERROR: JsonObject = {
  call: 'c1',
  name: 'login',
  ok: false,
  error: 'no',
  failure: 'threw',
  result_sha256: 'ab',
};

describe('what a rule takes out', () => {
  test.each<[string, string, JsonObject, string[]]>([
    ['task', 'user', { content: 'go', run: { system: 'be' } }, ['content: "go"']],
    ['system', 'user', { content: 'go', run: { system: 'be' } }, ['system: "be"']],
    ['system', 'resumed', { calls: [], run: { system: 'be' } }, ['system: "be"']],
    ['system', 'user', { content: 'go', run: {} }, []],
    ['answer', 'assistant', TURN, ['content: "I say"', 'provider: {"signature":"xyz"}']],
    ['answer', 'final', { content: 'I say', reason: 'x' }, ['content: "I say"']],
    [
      'tools.login.arguments.user',
      'assistant',
      TURN,
      ['provider: {"signature":"xyz"}', 'raw: "{ }"', 'user: "bob"'],
    ],
    [
      'tools.login.arguments.list[*].k',
      'assistant',
      TURN,
      ['k: "two"', 'k: 1', 'provider: {"signature":"xyz"}', 'raw: "{ }"'],
    ],
    [
      'tools.login.arguments.list.1',
      'assistant',
      TURN,
      ['provider: {"signature":"xyz"}', 'raw: "{ }"', '{"k":"two"}'],
    ],
    ['tools.login.arguments.user', 'tool', VALUE, ['user: "bob"']],
    ['tools.login.arguments', 'tool', VALUE, ['given: {"user":"bob"}']],
    ['tools.login.result', 'tool', VALUE, ['value: {"rows":[1,{"a":2}]}']],
    ['tools.login.result.rows[1].a', 'tool', VALUE, ['a: 2']],
    ['tools.login.result.rows[0]', 'tool', VALUE, ['1']],
    ['tools.login.arguments.user', 'tool', ERROR, ['error: "no"', 'result_sha256: "ab"']],
    ['tools.login.result', 'tool', ERROR, ['error: "no"', 'result_sha256: "ab"']],
    ['tools.login.result.rows', 'tool', ERROR, ['result_sha256: "ab"']],
    ['tools.other.result', 'tool', VALUE, []],
    ['tools.*.result', 'tool', VALUE, ['value: {"rows":[1,{"a":2}]}']],
    ['tools.login.result', 'assistant', TURN, []],
    ['tools.login.arguments.nothing', 'tool', VALUE, []],
  ])('%s of %s', (rule, kind, payload, expected) => {
    expect(taken([rule], kind, payload)).toEqual(expected);
  });

  test('and the other calls of the turn stay', () => {
    expect(taken(['tools.*.arguments'], 'assistant', TURN)).toHaveLength(5);
    const { draft } = new Redactor(['tools.login.arguments.user']).redact({
      kind: 'assistant',
      payload: TURN,
    });
    expect(draft.payload).toMatchObject({
      content: 'I say',
      tool_calls: [
        { arguments: { list: [{ k: 1 }, { k: 'two' }] } },
        { arguments: { user: 'eve' }, raw: '{}' },
      ],
    });
  });

  test('two rules for the same value take it out once, the outer one', () => {
    const rules = ['tools.login.result', 'tools.login.result.rows'];
    expect(taken(rules, 'tool', VALUE)).toEqual(['value: {"rows":[1,{"a":2}]}']);
  });

  test('what looks like digests itself is taken out, so that nothing is mistaken for one', () => {
    const value = { a: { _sd: ['x'] }, list: [{ '...': 'y' }] };
    expect(taken(['task'], 'tool', { ...VALUE, value })).toEqual([
      'a: {"_sd":["x"]}',
      '{"...":"y"}',
    ]);
  });

  test('each salt is 128 random bits', () => {
    const redactor = new Redactor(['task']);
    const salts = [1, 2].map(() => {
      const [text = ''] = redactor.redact({ kind: 'user', payload: { content: 'go' } }).disclosures;
      return parseDisclosure(text)?.salt ?? '';
    });
    expect(new Set(salts).size).toBe(2);
    for (const salt of salts) expect(Buffer.from(salt, 'base64url')).toHaveLength(16);
  });
});

describe('a text that was taken out is taken out wherever it stands', () => {
  const SECRET = 'p"ss wörd';
  test.each<[string, string, JsonObject, string[]]>([
    ['the task', 'user', { content: `use ${SECRET}!`, run: {} }, ['content']],
    [
      'what the model says',
      'assistant',
      { content: `use ${SECRET}!`, tool_calls: [] },
      ['content'],
    ],
    [
      'another call',
      'assistant',
      { content: '', tool_calls: [{ id: 'c', name: 'o', arguments: { q: SECRET } }] },
      ['q'],
    ],
    [
      'and its other spellings',
      'assistant',
      {
        content: '',
        provider: { x: 1 },
        tool_calls: [
          { id: 'c', name: 'o', arguments: { q: SECRET }, raw: '{"q":"p\\u0022ss w\\u00f6rd"}' },
        ],
      },
      ['provider', 'q', 'raw'],
    ],
    [
      'an error that quotes it',
      'tool',
      { call: 'c', name: 'o', ok: false, error: `bad: ${JSON.stringify(SECRET)}` },
      ['error'],
    ],
    [
      'a result',
      'tool',
      { call: 'c', name: 'o', ok: true, value: { deep: [{ at: `x${SECRET}x` }] } },
      ['at'],
    ],
    [
      'the name of a member',
      'tool',
      { call: 'c', name: 'o', ok: true, value: { [SECRET]: 1 } },
      [SECRET],
    ],
    [
      'an address',
      'tool',
      { call: 'c', name: 'o', ok: true, value: `/?q=${encodeURIComponent(SECRET)}` },
      ['value'],
    ],
    ['a form', 'tool', { call: 'c', name: 'o', ok: true, value: 'q=p%22ss+w%C3%B6rd' }, ['value']],
    [
      'a permission',
      'tool',
      { call: 'c', name: 'o', ok: true, value: 1, permit: { reason: SECRET } },
      ['reason'],
    ],
    [
      'a check',
      'final',
      { content: '', check: { ok: true, detail: SECRET }, reason: 'x' },
      ['detail'],
    ],
    [
      'a failed attempt',
      'final',
      { content: '', reason: 'x', failed_attempts: [{ error: SECRET }] },
      ['error'],
    ],
    ['a record of another kind', 'note', { anything: [SECRET] }, ['']],
  ])('%s', (_, kind, payload, names) => {
    const found = taken(['system'], kind, payload, [SECRET]);
    expect(found.map((one) => /^(.+?): /.exec(one)?.[1] ?? '').toSorted()).toEqual(names);
  });

  test('in the very record, whatever comes first in it', () => {
    const payload = {
      content: 'I try hunter2',
      tool_calls: [{ id: 'c', name: 'login', arguments: { p: 'hunter2' } }],
    };
    expect(taken(['tools.login.arguments.p'], 'assistant', payload)).toEqual([
      'content: "I try hunter2"',
      'p: "hunter2"',
    ]);
  });

  test('and in those that follow, a number too', () => {
    const redactor = new Redactor(['tools.login.arguments']);
    const call = {
      id: 'c',
      name: 'login',
      arguments: { pin: 4711, on: true, big: new Verbatim('12345678901234567890') },
    };
    redactor.redact({ kind: 'assistant', payload: { content: '', tool_calls: [call] } });
    for (const text of ['pin 4711', '12345678901234567890'])
      expect(
        redactor.redact({ kind: 'final', payload: { content: text } }).disclosures,
      ).toHaveLength(1);
    for (const text of ['471', 'true', 'pin'])
      expect(
        redactor.redact({ kind: 'final', payload: { content: text } }).disclosures,
      ).toHaveLength(0);
    expect(
      redactor.redact({ kind: 'tool', payload: { name: 'x', value: [4711] } }).disclosures,
    ).toHaveLength(1);
  });

  test('but not in what the loop writes of itself', () => {
    const payload = { call: 'value', name: 'value', ok: false, error: 'x', failure: 'not_run' };
    expect(taken(['task'], 'tool', payload, ['value', 'not_run', 'error'])).toEqual([]);
    expect(taken(['task'], 'recovered', { kept: 'value' }, ['value'])).toEqual([]);
  });

  test('a short one is not looked for: it would be found everywhere', () => {
    const known = new KnownTexts();
    known.learn(['abc', 12, null, true, { k: 'ä' }]);
    expect(known.isIn('abc 12 null true k ä')).toBe(false);
    known.learn('abcd');
    expect(['abcd', 'xabcdx', 'abc', 'abcx', ''].map((text) => known.isIn(text))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

describe('common secrets', () => {
  // Made up, and put together here: whoever scans sources for secrets would find them otherwise.
  const hex = 'a1B2'.repeat(20);
  const SECRETS: Readonly<Record<string, readonly string[]>> = {
    'an access key id of AWS': [`AKIA${'ABCD'.repeat(4)}`, `id=ASIA${'Z234'.repeat(4)};`],
    'a secret access key of AWS, by its name': [
      `aws_secret_access_key = ${hex.slice(0, 40)}`,
      `"awsSecretAccessKey":"${hex.slice(0, 38)}/+"`,
      `"SecretAccessKey": "${hex.slice(0, 40)}"`,
    ],
    'a token of GitHub': [
      `ghp_${hex.slice(0, 36)}`,
      `gho_${hex.slice(0, 36)}`,
      `github_pat_${hex.slice(0, 22)}_${hex}`,
    ],
    'a token of GitLab': [`glpat-${hex.slice(0, 20)}`, `glrt-${hex.slice(0, 20)}`],
    'a key of OpenAI, Anthropic or a service like them': [
      `sk-${hex.slice(0, 48)}`,
      `sk-proj-${hex.slice(0, 40)}`,
      `sk-ant-api03-${hex.slice(0, 40)}-_AA`,
    ],
    'a key of Stripe': [`sk_live_${hex.slice(0, 24)}`, `rk_test_${hex.slice(0, 24)}`],
    'a key of Google': [`AIza${hex.slice(0, 35)}`],
    'a token of Slack': [
      `xoxb-123456789012-${hex.slice(0, 10)}`,
      `xapp-1-A0123456789-${hex.slice(0, 10)}`,
    ],
    'a token of npm': [`npm_${hex.slice(0, 36)}`],
    'a JSON Web Token': [`eyJ${hex.slice(0, 20)}.eyJ${hex.slice(0, 30)}.${hex.slice(0, 43)}`],
    'a private key in PEM': [
      '-----BEGIN PRIVATE KEY-----\nMII',
      '-----BEGIN OPENSSH PRIVATE KEY-----',
      '-----BEGIN RSA PRIVATE KEY-----',
    ],
    'what follows Bearer or Basic in an Authorization header, by its name': [
      `Authorization: Bearer ${hex.slice(0, 4)}`,
      `"authorization":"basic ${Buffer.from('a:b').toString('base64')}"`,
    ],
    'what follows Bearer or Basic and is long': [
      `Bearer ${hex.slice(0, 20)}`,
      `basic ${Buffer.from('user:password').toString('base64')}`,
    ],
    'a password in a URL': [
      'postgres://user:pa55@db.example/x',
      'https://:token@example.org',
      'redis://:p@h',
    ],
  };

  test('each pattern has examples', () => {
    expect(Object.keys(SECRETS)).toEqual(PATTERNS.map(([what]) => what));
  });

  test.each(PATTERNS)('%s is found, in the middle of a text too', (what, pattern) => {
    for (const secret of SECRETS[what] ?? []) {
      expect(pattern.test(secret), secret).toBe(true);
      expect(holdsCommonSecret(`see "${secret}", please`), secret).toBe(true);
    }
  });

  test.each(PATTERNS)('%s is found in JSON, JSON of JSON and addresses', (what) => {
    for (const secret of SECRETS[what] ?? []) {
      const json = JSON.stringify({ log: `=\n${secret}\t` });
      for (const text of [
        json,
        JSON.stringify({ body: json }),
        json.replace('=', '\\u003d').replace('\\n', ''),
        `/x?q=${encodeURIComponent(`=${secret}`)}`,
        json.replaceAll('/', '\\/'),
        `TOKEN_${secret}`,
      ])
        expect(holdsCommonSecret(text), text).toBe(true);
    }
  });

  test('the name of a member and its text are looked at together', () => {
    const key = hex.slice(0, 40);
    expect(holdsCommonSecret(key)).toBe(false);
    const value = { Credentials: { SecretAccessKey: key }, authorization: 'Basic cm9vdDp0b29y' };
    expect(taken(['common-secrets'], 'tool', { ok: true, value })).toHaveLength(2);
    const call = { id: 'c', name: 'x', arguments: { aws_secret_access_key: key } };
    const turn = { content: '', tool_calls: [{ ...call, raw: JSON.stringify(call.arguments) }] };
    expect(JSON.stringify(taken(['common-secrets'], 'assistant', turn))).toContain(key);
    expect(taken(['common-secrets'], 'assistant', turn)).toHaveLength(2);
  });

  test('ordinary texts hold none', () => {
    for (const text of [
      'The task is to risk-assess a sk-8 board.',
      'https://example.org:8080/path?x=a@b',
      'mailto:someone@example.org',
      'git@github.com:owner/name.git',
      'Use the bearer token from the header.',
      'basic arithmetic operations',
      '-----BEGIN PUBLIC KEY-----\nMII',
      '-----BEGIN CERTIFICATE-----',
      'fb2ac7339a81d1c4a4505665859b7af84a67af2083f6a00afd690079cb24e559',
      'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA',
      'AKIAexample',
      'eyJhbGciOi.not-a-token',
      'https://example.org/a:b@c',
    ])
      expect(holdsCommonSecret(text), text).toBe(false);
  });

  test('a text that holds one is taken out whole, wherever anybody may say something', () => {
    const secret = SECRETS['a token of GitHub']?.[0] ?? '';
    const payload = {
      call: 'c',
      name: 'env',
      ok: true,
      value: { out: `TOKEN=${secret}`, other: 'x' },
    };
    expect(taken(['common-secrets'], 'tool', payload)).toEqual([`out: "TOKEN=${secret}"`]);
    expect(
      taken(['common-secrets'], 'user', { content: secret, run: { system: secret, id: secret } }),
    ).toHaveLength(2);
    expect(taken(['task'], 'tool', payload)).toEqual([]);
  });

  test('long texts that begin like secrets again and again are gone through once', () => {
    for (const part of [
      'a.',
      'a://',
      'a://a:',
      'eyJ',
      'eyJaaaaaaaa.x',
      '-----BEGIN A ',
      'bearer ',
      'sk-a ',
      'aws_secret_key = ',
      'secretaccesskey=',
      'authorization: bas',
      'https:\\/\\/a',
      '%',
      '\\u',
      '\\n',
    ]) {
      const text = part.repeat(Math.ceil(200_000 / part.length));
      expect(holdsCommonSecret(text.slice(0, 200_000)), part).toBe(false);
    }
  });
});
