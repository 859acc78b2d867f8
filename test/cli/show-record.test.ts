/**
 * Records of any shape are shown, and nothing in them reaches the terminal as a command.
 *
 * @module
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { recordLines } from '../../src/cli/show-record.ts';
import { canonicalJson, parseJson, type JsonObject } from '../../src/transcript/index.ts';

const view = { turn: 1, full: false, style: (_look: string, text: string) => text };

/** Names that the loop's payloads have, with values of every kind. */
const name = fc.constantFrom(
  ...'content run model budget system tool_calls usage stop provider at name ok value error'.split(
    ' ',
  ),
  ...'failure note permit call reason check id arguments raw failed_attempts detail'.split(' '),
  ...'decision asked input'.split(' '),
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

test('a value that JavaScript would spell otherwise keeps its spelling', () => {
  const line = '{"input":1.0,"big":123456789012345678901234567890}';
  const parsed = parseJson(line);
  // As above.
  const payload = (parsed as { value: JsonObject }).value;
  const lines = recordLines({ seq: 3, kind: 'odd', payload, prev: '', hash: '' }, view);
  expect(lines).toEqual(['#3 odd', '  {"big":123456789012345678901234567890,"input":1.0}']);
});
