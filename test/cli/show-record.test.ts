/**
 * Records of any shape are shown, and nothing in them reaches the terminal as a command.
 *
 * @module
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { committedLines } from '../../src/cli/show-committed.ts';
import { recordLines } from '../../src/cli/show-record.ts';
import { type Commitment } from '../../src/evidence/commit.ts';
import { canonicalJson, parseJson, type JsonObject } from '../../src/transcript/index.ts';

const view = { turn: 1, full: false, style: (_look: string, text: string) => text };

/** Names that the loop's payloads have, with values of every kind. */
const name = fc.constantFrom(
  ...'content run model budget system tool_calls usage stop provider at name ok value error'.split(
    ' ',
  ),
  ...'failure note permit call reason check id arguments raw failed_attempts detail'.split(' '),
  ...'decision asked input given streamed budget used limit'.split(' '),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('\u001b[2J', '\u202e', '\u009b', '\r', 'a\nb', '', '\u{e0041}'),
    fc.constantFrom(true, false, null, 0, 1.5),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof({ weight: 9, arbitrary: name }, fc.constant('\u202e')), tie('value')),
  ),
}));

test('any payload of any kind', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('user', 'assistant', 'tool', 'final', 'other', '\u001b[2J'),
      fc.dictionary(name, value, { noNullPrototype: true }),
      (kind, payload) => {
        const parsed = parseJson(canonicalJson(payload));
        // It was canonical JSON of an object.
        const read = (parsed as { value: JsonObject }).value;
        const lines = recordLines({ seq: 0, kind, payload: read, prev: '', hash: '' }, view);
        expect(lines.length).toBeGreaterThan(0);
        for (const line of lines) expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
      },
    ),
    { numRuns: 500 },
  );
});

test.each([
  [
    'tool',
    '{"call":"c1","name":"add","ok":true,"value":3,"given":{"a":1},"permit":{"decision":"allow","asked":true}}',
    ['  add ok  [c1]', '  3', '  given     {"a":1}', '  permit    allow, a person was asked'],
  ],
  [
    'assistant',
    '{"content":"","tool_calls":[],"usage":{"input":9,"output":null},"stop":"end","failed_attempts":[{"error":"503: busy","usage":null},{"error":"429"},{"error":"cut","usage":{"input":4,"output":null},"streamed":7},"odd"]}',
    [
      '  failed    503: busy (usage unknown)',
      '            429 (no usage)',
      '            cut (usage input 4, streamed 7)',
      '            odd',
      '  usage     input 9',
    ],
  ],
  [
    'final',
    '{"reason":"token_budget","content":"","check":null,"budget":{"name":"tokens","limit":10,"used":4},"failed_attempts":[{"error":"x","usage":null}]}',
    [
      '  stopped   the token budget leaves no room for another turn (token_budget)',
      '  budget    name tokens, limit 10, used 4',
      '  failed    x (usage unknown)',
      '  verified  not checked',
    ],
  ],
])('a record of kind %s', (kind, line, shown) => {
  const parsed = parseJson(line);
  // As above.
  const payload = (parsed as { value: JsonObject }).value;
  const lines = recordLines({ seq: 3, kind, payload, prev: '', hash: '' }, view);
  expect(lines.slice(1)).toEqual(shown);
});

test('a value that JavaScript would spell otherwise keeps its spelling', () => {
  const line = '{"input":1.0,"big":123456789012345678901234567890}';
  const parsed = parseJson(line);
  // As above.
  const payload = (parsed as { value: JsonObject }).value;
  const lines = recordLines({ seq: 3, kind: 'odd', payload, prev: '', hash: '' }, view);
  expect(lines).toEqual(['#3 odd', '  {"big":123456789012345678901234567890,"input":1.0}']);
});

test('of thousands of places that were taken out, the first are named', () => {
  const commitments = Array.from({ length: 20_000 }, (_, at): Commitment => ({
    path: ['value', at, 'email'],
    digest: '',
    state: 'withheld',
  }));
  const record = { seq: 0, kind: 'tool', payload: {}, prev: '', hash: '' };
  const line = committedLines({ record, commitments }, view).at(-1) ?? '';
  expect(line).toMatch(/^ {2}withheld {2}1 part of result\[0\]\.email, 1 part of .* 19,?980 more$/);
});
