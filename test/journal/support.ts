/**
 * What the journal's tests share: models that go by the conversation alone, and what must hold of every transcript.
 *
 * @module
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { expect } from 'vitest';
import { replay } from '../../src/replay/replay.ts';
import { type Price } from '../../src/run/model.ts';
import { readRecords, verifyFile } from '../../src/store/index.ts';
import { expectPaired, model, type Read, type ScriptedModel, type Step } from '../run/support.ts';

/**
 * A model whose turn is that of the script at which the conversation stands, so that another process goes on
 * where one ended. It throws at the script's end.
 */
export function byTurns(
  script: readonly Step[],
  extra: { id?: string; price?: Price } = {},
): ScriptedModel {
  return model((_, { messages }) => {
    const step = script[messages.filter(({ role }) => role === 'assistant').length];
    if (step === undefined) throw new Error('the script is over');
    return step;
  }, extra);
}

/** A transcript that was read back. */
export interface Whole {
  readonly records: readonly Read[];
  readonly final: Read['payload'];
}

/** Expects what must hold of the transcript of every run that ended, however often it was cut off. */
export async function expectWhole(path: string): Promise<Whole> {
  expect(await verifyFile(path)).toMatchObject({ ok: true, sealed: true });
  const records: Read[] = [];
  // The loop's payloads are objects; tests look into them.
  for await (const record of readRecords(path)) records.push(record as unknown as Read);
  // A process may end, and another go on, at any record.
  expectPaired(records.filter(({ kind }) => kind !== 'recovered' && kind !== 'resumed'));
  const replayed = await replay(path);
  expect(replayed.divergence, readFileSync(path, 'utf8')).toBeUndefined();
  expect(replayed).toMatchObject({ ok: true, count: records.length, sealed: true });
  return { records, final: records.at(-1)?.payload ?? {} };
}

/** Other processes run the built package. An old build would test old code. */
export function requireBuild(): void {
  for (const layer of ['transcript', 'store', 'run']) {
    for (const name of readdirSync(new URL(layer, SOURCE))) {
      const source = statSync(new URL(`${layer}/${name}`, SOURCE));
      const built = statSync(new URL(`${layer}/${name.replace(/ts$/, 'js')}`, DIST), {
        throwIfNoEntry: false,
      });
      if (built === undefined || built.mtimeMs < source.mtimeMs)
        throw new Error(`dist is missing or older than src (${layer}/${name}): npm run build`);
    }
  }
}

const SOURCE = new URL('../../src/', import.meta.url);
const DIST = new URL('../../dist/', import.meta.url);
