/**
 * A rehearsal tells a brain of the past what the episode told it, whatever was decided, refused, failed or not seen;
 * and no secret is in it.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Action } from '../../src/computer/action.ts';
import { type BrainFunction } from '../../src/computer/brain.ts';
import { episode, rehearse, verifyAuditFile, type EpisodeEvent } from '../../src/computer/index.ts';
import { type ActResult, type Screen } from '../../src/computer/screen.ts';
import { type Observation } from '../../src/computer/observation.ts';
import { type Permit } from '../../src/run/permit.ts';
import { memoryStore } from '../../src/store/index.ts';
import { recordsOf } from '../run/support.ts';
import { scratch } from '../store/helpers.ts';

const newPath = scratch();

const words = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    'Save',
    'Password',
    'hunter2',
    '/home/ada/notes.txt',
    'a\n  at b (/x/y.js:1:2)',
    'C:\\a\\b',
  ),
);
const target = fc.oneof(
  fc.record({ label: words }),
  fc.record({ label: fc.constantFrom('Save', 'Name', 'Password') }),
  fc.record({ index: fc.nat(4) }),
);
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ kind: fc.constantFrom('click' as const, 'double_click' as const), target }),
  fc.record({ kind: fc.constant('type' as const), target, text: words }),
  fc.record({ kind: fc.constant('type' as const), target, secret: fc.constantFrom('pin', 'none') }),
  fc.record({ kind: fc.constant('press' as const), key: fc.constantFrom('Enter', 'h', 'Tab') }),
  fc.record({ kind: fc.constant('select' as const), target, option: words }),
  fc.record({
    kind: fc.constant('scroll' as const),
    direction: fc.constantFrom('up' as const, 'down' as const),
    by: fc.nat(),
  }),
  fc.record({ kind: fc.constant('wait' as const), milliseconds: fc.constantFrom(0, 60_000, 1e9) }),
  fc.record({ kind: fc.constant('navigate' as const), url: fc.webUrl() }),
  fc.record({ kind: fc.constant('done' as const), answer: fc.constant('x'.repeat(100_001)) }),
);
/** What an action on the screen comes to, and whether the screen is another after it. */
const outcome = fc.record({
  done: fc.oneof(
    fc.record({ ok: fc.constant(true as const), summary: words }),
    fc.record({ ok: fc.constant(false as const), error: words }),
    words.map((message) => new Error(message)),
  ),
  text: fc.constantFrom('one', 'two', 'hunter2 is shown'),
  isSeen: fc.boolean(),
});

/** A screen on which one thing happens after another. */
function screenOf(
  outcomes: readonly (typeof outcome extends fc.Arbitrary<infer T> ? T : never)[],
): Screen {
  let at = -1;
  let blind = false;
  const elements = ['Name', 'Password', 'Save', 'Save'].map((label, y) => ({
    label,
    kind: label === 'Save' ? 'button' : 'textbox',
    x: 0,
    y,
    width: 1,
    height: 1,
    ...(label === 'Password' ? { states: ['password', 'focused'] } : {}),
  }));
  return {
    observe(): Promise<Observation> {
      const isBlind = blind;
      blind = false;
      if (isBlind) return Promise.reject(new Error('not now'));
      return Promise.resolve({ elements, text: outcomes[at]?.text ?? '' });
    },
    act(): Promise<ActResult> {
      at += 1;
      const next = outcomes[at];
      blind = next?.isSeen === false;
      if (next === undefined) return Promise.resolve({ ok: true, summary: 'did it' });
      return next.done instanceof Error ? Promise.reject(next.done) : Promise.resolve(next.done);
    },
  };
}

/** Which of the steps in an audit log came off. */
function stepsIn(audit: string): boolean[] {
  const lines = readFileSync(audit, 'utf8').trimEnd().split('\n').slice(0, -1);
  return lines.map((line) => {
    const { ok }: { ok: boolean } = JSON.parse(line);
    return ok;
  });
}

test('is the same, decision by decision', async () => {
  const denials = fc.array(fc.constantFrom('allow' as const, 'deny' as const, 'throw' as const));
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { maxLength: 8 }),
      fc.array(outcome),
      denials,
      words,
      async (actions, outcomes, policies, reason) => {
        const recorder = (into: unknown[]): BrainFunction => {
          let at = 0;
          return (observation, goal, history) => {
            into.push({ observation, goal, history });
            return actions[at++] ?? { kind: 'done', answer: 'enough' };
          };
        };
        let asked = -1;
        const permit: Permit = ({ tool }) => {
          if (tool.name === 'look') return { decision: 'allow' };
          asked += 1;
          const decision = policies[asked] ?? 'allow';
          if (decision === 'throw') throw new Error(reason);
          return decision === 'allow' ? { decision } : { decision, reason };
        };
        const lived: unknown[] = [];
        const transcript = memoryStore();
        const events: EpisodeEvent[] = [];
        const audit = newPath('audit.jsonl');
        const result = await episode({
          goal: 'whatever',
          screen: screenOf(outcomes),
          brain: recorder(lived),
          secrets: { pin: 'hunter2' },
          transcript,
          audit,
          permit,
          on: (event) => events.push(event),
        });
        const kept = JSON.stringify([await recordsOf(transcript), lived, events, result]);
        expect(kept + readFileSync(audit, 'utf8')).not.toContain('hunter2');
        const steps = events.flatMap((event) => (event.type === 'step' ? [event.step.ok] : []));
        expect(stepsIn(audit)).toEqual(steps);
        expect(await verifyAuditFile(audit)).toMatchObject({ ok: true, count: steps.length + 1 });
        const rehearsed: unknown[] = [];
        const { score } = await rehearse(transcript, recorder(rehearsed));
        expect(rehearsed).toEqual(lived);
        expect(score).toBe(1);
      },
    ),
    { numRuns: 200 },
  );
});
