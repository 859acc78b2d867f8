/**
 * What diff prints on a terminal: two columns that fit.
 *
 * @module
 */
import { expect, test } from 'vitest';
import { diffLines } from '../../src/cli/diff-words.ts';
import { type Output } from '../../src/cli/io.ts';
import { diff } from '../../src/replay/diff.ts';
import { run } from '../../src/run/run.ts';
import { memoryStore, type TranscriptStore } from '../../src/store/index.ts';
import { call, calls, echo, model, type Step } from '../run/support.ts';

// What the lines need of an output.
const terminal = (columns: number): Output =>
  ({ terminal: true, columns, style: (_look: string, text: string) => text }) as unknown as Output;

async function recorded(...script: readonly Step[]): Promise<TranscriptStore> {
  const store = memoryStore();
  await run({ task: 'do it', tools: [echo], model: model(script), transcript: store });
  return store;
}

const one = await recorded(calls(call('echo', { a: 1 })), { content: 'It is one.' });

test('the two runs stand beside each other, step by step', async () => {
  const other = await recorded(
    calls(call('echo', { a: 2 }), call('echo', { a: 3 })),
    calls(call('nope')),
  );
  const found = await diff(one, other);
  const lines = diffLines(found, terminal(80));
  const from = lines.findIndex((line) => line.startsWith('they part'));
  expect(lines.slice(from)).toEqual([
    'they part at record 1: the number of calls',
    'A                                      │ B',
    '1 (echo)                               │ 2 (echo, echo)',
    '',
    'what each did from there',
    'A                                      │ B',
    '#1 turn 1                              │ #1 turn 1',
    '  → echo {"a":1}                       │   → echo {"a":2}',
    '    #2 ok {"a":1}                      │     #2 ok {"a":2}',
    '                                       │   → echo {"a":3}',
    '                                       │     #3 ok {"a":3}',
    '#3 turn 2                              │ #4 turn 2',
    '  It is one.                           │   → nope {}',
    '                                       │     #5 failed (unknown_tool) no tool',
    "                                       │       named 'nope' (have: echo)",
    '#4 stopped: the model asked for no     │ #6 stopped: the model failed',
    '  more tools (no_tool_calls)           │   (model_error)',
    '                                       │   Error: the script is over',
  ]);
});

test.each([60, 61, 80, 132])(
  'at %i columns no line is wider, whatever is in it',
  async (columns) => {
    const texts = [
      'x'.repeat(300),
      'a word '.repeat(60),
      '漢字'.repeat(150),
      '😀e\u0301'.repeat(90),
    ];
    for (const content of texts) {
      const other = await recorded({ content, ...calls(call(content, { [content]: content })) });
      const lines = diffLines(await diff(one, other), terminal(columns));
      const columnLines = lines.filter((line) => line.includes('│'));
      expect(columnLines.length).toBeGreaterThan(10);
      for (const line of columnLines) expect(places(line)).toBeLessThan(columns);
      // Room is used, but for what a word at the end of a line needs.
      const widest = Math.max(...columnLines.map(places));
      expect(widest).toBeGreaterThan(columns - (content.includes(' ') ? 10 : 5));
      // Nothing of the text is lost in between but spaces.
      const right = columnLines.map((line) => (line.split('│')[1] ?? '').trim()).join('');
      expect(right.replaceAll(' ', '')).toContain(content.slice(0, 198).replaceAll(' ', ''));
    }
  },
);

test('on a narrow terminal they stand below each other', async () => {
  const lines = diffLines(await diff(one, await recorded({ content: 'no' })), terminal(59));
  expect(lines).toContain('  B  none');
  expect(lines.join()).not.toContain('│');
});

/** How much room a text takes: the characters of these tests are narrow, wide, or marks. */
function places(text: string): number {
  let sum = 0;
  for (const character of text)
    sum += /[漢字😀]/u.test(character) ? 2 : character === '\u0301' ? 0 : 1;
  return sum;
}
