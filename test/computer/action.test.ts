/**
 * Actions: what is read, what is said of them, and what they aim at.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aimed } from '../../src/computer/act.ts';
import { describe as describeAction, type Action } from '../../src/computer/action.ts';
import {
  screenDigest,
  observationDigest,
  type Observation,
} from '../../src/computer/observation.ts';
import { ACTION_KINDS, readAction } from '../../src/computer/read-action.ts';
import { Secrets } from '../../src/computer/secrets.ts';
import { findTarget } from '../../src/computer/target.ts';
import { readView, viewJson, viewOf } from '../../src/computer/view.ts';
import { canonicalJson } from '../../src/transcript/index.ts';

const vectors: { observations: { name: string; observation: Observation; digest: string }[] } =
  JSON.parse(readFileSync(new URL('vectors.json', import.meta.url), 'utf8'));

const at = (label: string, n = 0): Observation['elements'][number] => ({
  label,
  kind: 'button',
  x: 0,
  y: n,
  width: 1,
  height: 1,
});
const seen: Observation = {
  elements: [at('Save'), at('OK', 1), at('OK', 2), at('Größe', 3)],
  text: '',
};

const text = fc.string({ unit: 'grapheme' });
const target = fc.oneof(fc.record({ label: text }), fc.record({ index: fc.nat(9) }));
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ kind: fc.constantFrom('click' as const, 'double_click' as const), target }),
  fc.record({ kind: fc.constant('type' as const), target, text }),
  fc.record({
    kind: fc.constant('type' as const),
    target,
    secret: fc.string({ minLength: 1 }),
    submit: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('press' as const), key: fc.string({ minLength: 1 }) }),
  fc.record({ kind: fc.constant('select' as const), target, option: text }),
  fc.record({
    kind: fc.constant('scroll' as const),
    direction: fc.constantFrom('up' as const, 'left' as const),
    by: fc.nat(),
  }),
  fc.record({ kind: fc.constant('wait' as const), milliseconds: fc.nat() }),
  fc.record({ kind: fc.constant('navigate' as const), url: fc.webUrl() }),
  fc.record({ kind: fc.constant('done' as const), answer: text }),
  fc.record({ kind: fc.constant('refuse' as const), reason: text }),
);

describe('readAction', () => {
  test('reads every action as it is, also flat as a call has it', () => {
    fc.assert(
      fc.property(action, (given) => {
        expect(readAction(given)).toEqual(given);
        const { target: aim = {}, ...rest } = { target: undefined, ...given };
        expect(readAction({ ...rest, ...aim })).toEqual(given);
      }),
    );
  });

  test('never throws, and says what is wrong', () => {
    fc.assert(
      fc.property(fc.anything(), (given) => {
        const read = readAction(given);
        if (typeof read !== 'string') expect(ACTION_KINDS).toContain(read.kind);
      }),
    );
  });
});

describe('describe', () => {
  test('is one line, and the same for the same action', () => {
    fc.assert(
      fc.property(action, (given) => {
        const said = describeAction(given);
        expect(said).toBe(describeAction(structuredClone(given)));
        expect(said).not.toMatch(/[\n\r\u0085\u2028\u2029]/);
      }),
    );
  });

  test.each<[Action, string]>([
    [{ kind: 'click', target: { label: 'A\n"B"' } }, 'click "A \\"B\\""'],
    [{ kind: 'double_click', target: { index: 3 } }, 'double_click #3'],
    [
      { kind: 'type', target: { label: 'x' }, text: '1', submit: true },
      'type "1" into "x", then Enter',
    ],
    [{ kind: 'type', target: { label: 'x' }, secret: 'pin' }, 'type the secret "pin" into "x"'],
    [{ kind: 'scroll', direction: 'down' }, 'scroll down'],
    [{ kind: 'done', answer: 'x'.repeat(99) }, `done: "${'x'.repeat(80)}…"`],
  ])('%j', (given, said) => {
    expect(describeAction(given)).toBe(said);
  });
});

describe('targets', () => {
  test.each([
    [{ label: 'Save' }, 0],
    [{ label: ' save ' }, 0],
    [{ label: 'GRÖSSE' }, 'nothing is labelled "GRÖSSE"'],
    [{ label: 'grÖße' }, 3],
    [
      { label: 'OK' },
      '2 elements are labelled "OK": 1 (button), 2 (button); say which by its index',
    ],
    [{ label: 'ok' }, '2 elements are labelled "ok"'],
    [{ index: 2 }, 2],
    [{ index: 4 }, 'there is no element 4 on the screen (0 to 3)'],
  ])('%j', (aim, expected) => {
    const found = findTarget(seen, aim);
    if (typeof expected === 'number') expect(found).toEqual({ ok: true, index: expected });
    else expect(found).toMatchObject({ ok: false, error: expect.stringContaining(expected) });
  });

  test('an exact label wins over one that is only alike', () => {
    expect(findTarget({ elements: [at('ok'), at('OK')], text: '' }, { label: 'OK' })).toEqual({
      ok: true,
      index: 1,
    });
  });

  test('a control wins over what is only read', () => {
    const named = ['dialog', 'heading', 'button'].map((kind) => ({ ...at('Confirm'), kind }));
    expect(findTarget({ elements: named, text: '' }, { label: 'Confirm' })).toEqual({
      ok: true,
      index: 2,
    });
    expect(findTarget({ elements: named.slice(0, 2), text: '' }, { label: 'Confirm' }).ok).toBe(
      false,
    );
  });

  test('a secret is looked up only when it is typed', () => {
    const secrets = new Secrets({ pin: '1234' });
    const screens = { shown: seen, now: seen };
    expect(aimed({ kind: 'type', target: { index: 0 }, secret: 'pin' }, screens, secrets)).toEqual({
      kind: 'type',
      index: 0,
      text: '1234',
      submit: false,
      isSecret: true,
    });
    expect(() =>
      aimed({ kind: 'type', target: { index: 0 }, secret: 'pan' }, screens, secrets),
    ).toThrow("there is no secret 'pan' (there is 'pin')");
  });
});

describe('digests', () => {
  test.each(vectors.observations)('the seed’s digest of $name', ({ observation, digest }) => {
    expect(observationDigest(observation)).toBe(digest);
  });

  test('screens that differ late in their text have the same digest there, and another in full', () => {
    const [a, b] = ['a', 'b'].map((end) => ({ elements: [], text: 'x'.repeat(200) + end }));
    expect(observationDigest(a ?? seen)).toBe(observationDigest(b ?? seen));
    expect(screenDigest(a ?? seen)).not.toBe(screenDigest(b ?? seen));
  });
});

describe('the view of an observation', () => {
  const element = fc.record(
    {
      label: text,
      kind: text,
      x: fc.integer(),
      y: fc.integer(),
      width: fc.nat(),
      height: fc.nat(),
      value: text,
      states: fc.array(text, { minLength: 1 }),
    },
    { requiredKeys: ['label', 'kind', 'x', 'y', 'width', 'height'] },
  );
  const observation = fc.record(
    { elements: fc.array(element), text, url: text, title: text },
    { requiredKeys: ['elements', 'text'] },
  );

  test('is read back as it was recorded', () => {
    fc.assert(
      fc.property(observation, (given) => {
        const view = viewOf(given);
        const json = JSON.parse(JSON.stringify(viewJson(view, given.elements.length)));
        expect(readView(json)).toEqual(view);
      }),
    );
  });

  test('has room in a record, whatever a screen of my own calls its parts', () => {
    const long = '\u0001'.repeat(100_000);
    const elements = Array.from({ length: 500 }, (_, n) => ({
      ...at(`${n}`),
      label: long,
      kind: long,
      value: long,
      states: [...Array.from({ length: 20_000 }, () => ''), 'disabled', long],
    }));
    const view = viewOf({ elements, text: long, url: long, title: long });
    expect(Buffer.byteLength(canonicalJson(viewJson(view, 500)))).toBeLessThan(2 ** 21);
    const few = viewOf({ elements: [{ ...at('a'), states: ['disabled', 'focused'] }], text: '' });
    expect(few.elements[0]).toMatchObject({ label: 'a', states: ['disabled', 'focused'] });
  });

  test('is bounded, keeps the places, and says what it leaves out', () => {
    const many = {
      elements: Array.from({ length: 600 }, (_, n) => at(`${n}`)),
      text: '😀'.repeat(9000),
    };
    const view = viewOf(many);
    expect(view.elements).toHaveLength(500);
    expect(Array.from(view.text)).toHaveLength(8001);
    expect(viewJson(view, 600)).toMatchObject({ elements_left_out: 100 });
  });
});
