import { describe, expect, test } from 'vitest';
import { fitted, wrapped } from '../../src/cli/fit.ts';
import { Output } from '../../src/cli/io.ts';

/** An output of so many columns. */
function output(columns: number, isTTY = true): Output {
  const stream = { isTTY, columns, on: () => undefined, write: () => true };
  // Only what an output asks of its stream.
  return new Output(stream as unknown as NodeJS.WriteStream, { TERM: 'xterm' });
}

const DIGEST = 'd'.repeat(64);

describe('lines that fit', () => {
  test('what follows a break stands below the words', () => {
    const text = 'ok     a.jsonl  one two three four\n       note       five six seven';
    expect(fitted(text, output(26))).toBe(
      'ok     a.jsonl  one two\n       three four\n       note       five\n                  six\n                  seven',
    );
  });

  test('a digest is never broken, and is set as far in as it can be', () => {
    const text = `       note       another log was here: hashtape/${DIGEST}, 3 records`;
    const lines = fitted(text, output(80)).split('\n');
    expect(lines[1]).toBe(`     hashtape/${DIGEST},`);
    expect(fitted(`       head ${DIGEST}`, output(40)).split('\n')).toEqual([
      '       head',
      DIGEST,
    ]);
  });

  test('colours take no place, wide characters two', () => {
    expect(fitted('       \u001b[2mone two\u001b[22m three', output(22))).toBe(
      '       \u001b[2mone two\u001b[22m three',
    );
    expect(fitted('       山山 山山 山山', output(18))).toBe('       山山 山山\n       山山');
  });

  test('elsewhere a line stays one', () => {
    const text = `FAULT  a.jsonl  ${'word '.repeat(40)}`;
    expect(fitted(text, output(80, false))).toBe(text);
  });
});

test.each([
  ['of at most 78 columns', output(200), 78],
  ['also where it goes to a file', output(40, false), 78],
  ['and shorter ones for a terminal that is narrower', output(40), 39],
])('a paragraph is in lines %s', (_, to, width) => {
  const lines = wrapped('word '.repeat(60).trimEnd(), to).split('\n');
  expect(lines.join(' ')).toBe('word '.repeat(60).trimEnd());
  const longest = Math.max(...lines.map((line) => line.length));
  expect(longest).toBeLessThanOrEqual(width);
  expect(longest).toBeGreaterThan(width - 'word '.length);
});
