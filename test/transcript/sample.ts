/**
 * Transcripts to verify and to damage.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { advance, EMPTY_HEAD, encodeRecord, type Draft } from '../../src/transcript/index.ts';

/** The lines, each with its newline, of a transcript with these records. */
export function chain(drafts: readonly Draft[]): string[] {
  let head = EMPTY_HEAD;
  return drafts.map((draft) => {
    const line = encodeRecord(head, draft);
    head = advance(line);
    return line.text;
  });
}

/** A small run: six records, sealed, with multi-byte text, escapes, and numbers of several kinds. */
export const SAMPLE: readonly Draft[] = [
  { kind: 'user', payload: { content: 'What is 2 + 40?', run: { format: 'hashtape/1' } } },
  {
    kind: 'assistant',
    payload: {
      content: 'café \u{1F600}',
      tool_calls: [{ arguments: { a: 2, b: 40 }, id: 'call_1', name: 'add' }],
      usage: null,
    },
  },
  { kind: 'tool', payload: { call: 'call_1', ok: true, value: { rate: 0.25, sum: 42 } } },
  { kind: 'assistant', payload: { content: 'It is "42".\n', tool_calls: [] } },
  { kind: 'note', payload: [true, null, -1e-7] },
  { kind: 'final', payload: { check: null, content: '42', reason: 'no_tool_calls', steps: 2 } },
];

export function sha256(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex');
}

/** A line made of everything after its hash, as it stands: `rest` is `"kind":…,"seq":0}`. */
export function hashed(rest: string): string {
  return `{"hash":"${sha256(`{${rest}`)}",${rest}\n`;
}

/** The part of a line that its hash covers, without the opening brace and the newline. */
export function restOf(line: string): string {
  return line.slice(75, -1);
}

/** Changes the hashed part of a line and gives it the hash of the result. */
export function rehashed(line: string, change: (rest: string) => string): string {
  return hashed(change(restOf(line)));
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** A line's claimed hash. */
export function hashOf(line: string): string {
  return line.slice(9, 73);
}
