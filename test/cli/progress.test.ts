/**
 * Progress: nothing for short work, nothing without a terminal, nothing left behind.
 *
 * @module
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Output } from '../../src/cli/io.ts';
import { progressOf } from '../../src/cli/io.ts';

let written: string[];

beforeEach(() => {
  written = [];
  vi.useFakeTimers({ toFake: ['performance'] });
});

afterEach(() => {
  vi.useRealTimers();
});

function output(terminal: boolean, columns = 30): Output {
  // What progress uses of an output.
  return { terminal, columns, write: (text: string) => written.push(text) } as unknown as Output;
}

test('short work shows nothing', () => {
  const progress = progressOf(output(true), 'verifying a');
  progress.update(1, 2);
  vi.advanceTimersByTime(999);
  progress.update(2, 2);
  progress.done();
  expect(written).toEqual([]);
});

test('long work shows how far it is, not too often, and is erased', () => {
  const progress = progressOf(output(true), 'verifying a');
  vi.advanceTimersByTime(1000);
  progress.update(1, 3);
  vi.advanceTimersByTime(99);
  progress.update(2, 3);
  vi.advanceTimersByTime(1);
  progress.update(3, 3);
  progress.done();
  expect(written).toEqual([
    '\r\u001b[2Kverifying a 33 %',
    '\r\u001b[2Kverifying a 100 %',
    '\r\u001b[2K',
  ]);
});

test('it never wraps, and a pipe has no percentage', () => {
  const progress = progressOf(output(true, 20), `verifying ${'x'.repeat(50)}`);
  vi.advanceTimersByTime(1000);
  progress.update(50, 100);
  vi.advanceTimersByTime(100);
  progress.update(50, 0);
  expect(written).toEqual(['\r\u001b[2Kverifying xxxx 50 %', '\r\u001b[2Kverifying 50 bytes']);
});

test('without a terminal nothing is written', () => {
  const progress = progressOf(output(false), 'verifying a');
  vi.advanceTimersByTime(5000);
  progress.update(1, 3);
  progress.done();
  expect(written).toEqual([]);
});
