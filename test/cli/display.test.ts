/**
 * The live display: what runs, what ended, and which result belongs to which call.
 *
 * @module
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Display } from '../../src/cli/display.ts';
import { type Output } from '../../src/cli/io.ts';
import { type RunEvent, type ToolCall } from '../../src/index.ts';

let written: string[];

beforeEach(() => {
  written = [];
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const write = (text: string): void => void written.push(text);
const style = (_look: string, text: string): string => text;

function display(terminal: boolean): Display {
  // What a display uses of an output.
  const output = { terminal, columns: 80, write, style } as unknown as Output;
  return new Display(output, output, {});
}

const call = (id: string, name: string, args: object = {}): ToolCall =>
  // Empty or of plain values.
  ({ id, name, arguments: args }) as unknown as ToolCall;
const start = (of: ToolCall): RunEvent => ({ type: 'tool-start', call: of });
const end = (of: ToolCall, failure?: 'unknown_tool' | 'denied'): RunEvent => ({
  type: 'tool-end',
  call: of,
  ok: failure === undefined,
  content: 'text',
  failure,
  note: undefined,
});

/** The status lines, and nothing else. */
const states = (): string[] =>
  written.flatMap(
    (text) =>
      /· ((?:running|going)[^·]*?) ·.*(tool calls \d)/.exec(text)?.slice(1).join(', ') ?? [],
  );

test('the status line says what still runs, and counts calls as they end', () => {
  const shown = display(true);
  const [a, b, c] = [call('1', 'read'), call('2', 'wait'), call('3', 'look')];
  for (const one of [a, b, c]) shown.on(start(one));
  for (const one of [a, c, b]) shown.on(end(one));
  shown.end();
  expect(states()).toEqual([
    'running read, tool calls 0',
    'running read and 1 more, tool calls 0',
    'running read and 2 more, tool calls 0',
    'running wait and 1 more, tool calls 1',
    'running wait, tool calls 2',
    'going on, tool calls 3',
  ]);
});

test('a result names its call; a call that never started is shown too', () => {
  const shown = display(false);
  const [a, b] = [call('1', 'read', { path: 'a' }), call('2', 'read', { path: 'b'.repeat(40) })];
  const c = { ...call('3', 'no\u001bpe'), raw: '{"a":' };
  shown.on(start(a));
  shown.on(start(b));
  for (const event of [end(a), end(b), end(c, 'unknown_tool')]) shown.on(event);
  expect(written).toEqual([
    '  → read {"path":"a"}\n',
    `  → read {"path":"${'b'.repeat(40)}"}\n`,
    '  ✓ read {"path":"a"} ok text\n',
    `  ✓ read {"path":"${'b'.repeat(18)}… ok text\n`,
    '  → no\\u001bpe {"a":\n',
    '  ✗ no\\u001bpe {"a": failed (unknown_tool) text\n',
  ]);
});

test('a question has no status line before it, and what comes into it has a line of its own', () => {
  const shown = display(true);
  shown.say('begun');
  written = [];
  shown.ask('May it? ');
  expect(written).toEqual(['\r\u001b[2K', 'May it? ']);
  vi.advanceTimersByTime(1000);
  shown.say('SIGINT');
  expect(written[2]).toBe('\nSIGINT\n');
  shown.ask('May it? ');
  written = [];
  shown.typed();
  shown.say('on');
  expect(written[0]).toBe('on\n');
  shown.end();
});

test('a typed line takes the status line above it away', () => {
  const shown = display(true);
  shown.say('begun');
  written = [];
  shown.typed();
  expect(written.slice(0, 2)).toEqual(['\r\u001b[2K', '\u001b[1A\r\u001b[2K']);
  expect(written[2]).toMatch(/^\r\u001b\[2Kstep 0/);
  shown.end();
  written = [];
  shown.typed();
  expect(written).toEqual([]);
});

test('a run that was resumed says so, and its status goes on from what was spent', () => {
  const spent = {
    steps: 2,
    toolCalls: 1,
    tokens: 1234,
    estimatedTokens: 0,
    usd: null,
    seconds: 61,
  };
  const begin: RunEvent = { type: 'run-start', task: 'do it', location: 'a.jsonl' };
  for (const terminal of [true, false]) {
    const [begun, resumed] = [display(terminal), display(terminal)];
    begun.on(begin);
    expect(written).toEqual([]);
    resumed.on({ ...begin, resumedFrom: 1204, spent });
    resumed.end();
    const [line = '', ...status] = written.splice(0);
    expect(line).toBe('resumed after 1,204 records\n');
    expect(
      status.join('').includes('step 2 · going on · 1 min 1 s · tokens 1,234 · tool calls 1'),
    ).toBe(terminal);
  }
});
