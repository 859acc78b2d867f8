import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { demo } from '../src/cli/demo.ts';
import { fold } from '../src/run/state.ts';
import { parseRecord, verifyTranscript } from '../src/transcript/index.ts';

const folder = new URL('testdata/v1/', import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
const heads: Record<string, { count: number; head: string; sha256: string }> = JSON.parse(
  readFileSync(new URL('heads.json', folder), 'utf8'),
);

describe('old transcripts', () => {
  test('none was added, changed or lost', () => {
    expect(names.toSorted()).toEqual(Object.keys(heads).toSorted());
    for (const name of names) {
      const bytes = readFileSync(new URL(name, folder));
      expect(createHash('sha256').update(bytes).digest('hex'), name).toBe(heads[name]?.sha256);
    }
  });

  test.each(names)('%s verifies, and folds into the totals that it states', (name) => {
    const text = readFileSync(new URL(name, folder), 'utf8');
    const { count, head } = heads[name] ?? { count: 0, head: '' };
    expect(verifyTranscript(text, { count, head })).toMatchObject({ ok: true, sealed: true });
    const records = text.trimEnd().split('\n').map(parseRecord);
    const state = fold(records);
    expect(records.at(-1)?.payload).toMatchObject({
      steps: state.steps,
      tool_calls: state.toolCalls,
    });
    expect(state.unanswered).toEqual([]);
  });

  test('today’s demo writes the same bytes', async () => {
    let printed = '';
    expect(await demo({ write: (text) => (printed += text) })).toBe(0);
    const written = /Transcripts: (.+)/.exec(printed)?.[1] ?? '';
    for (const name of ['answer', 'recover', 'budget', 'repeat']) {
      const now = readFileSync(`${written}/${name}.jsonl`);
      expect(now.equals(readFileSync(new URL(`manifest-${name}.jsonl`, folder))), name).toBe(true);
    }
    rmSync(written, { recursive: true });
  });
});
