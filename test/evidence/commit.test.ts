import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redact, redactAsIn, reveal, type Path, type Payload } from '../../src/evidence/commit.ts';
import {
  disclosureDigest,
  parseDisclosure,
  type Disclosure,
} from '../../src/evidence/disclosure.ts';
import {
  canonicalJson,
  EMPTY_HEAD,
  encodeRecord,
  MAX_DEPTH,
  parseJson,
  type JsonValue,
} from '../../src/transcript/index.ts';

/** Salts that count: what is tested has no need of chance. */
function counting(): () => string {
  let count = 0;
  return () => `salt-${(count += 1)}`;
}

/** Disclosures by their digest, without those that `kept` leaves out. */
function opening(
  disclosures: readonly string[],
  kept: (i: number) => boolean = () => true,
): (digest: string) => Disclosure | undefined {
  const known = new Map(
    disclosures.flatMap((text, i) => (kept(i) ? [[disclosureDigest(text), text] as const] : [])),
  );
  return (digest) => parseDisclosure(known.get(digest) ?? '');
}

function read(json: string): Payload {
  const parsed = parseJson(json);
  return (parsed.ok ? parsed.value : {}) as Payload;
}

/** Any JSON, with names and numbers that could go wrong. */
const KEY = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 4 }),
  fc.constantFrom('_sd', '...', '__proto__', 'constructor', '0', 'a'),
);
const { value: VALUE } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc
      .oneof(
        fc.string({ unit: 'grapheme', maxLength: 4 }),
        fc.constantFrom(null, true, 0, -1, 1e21),
      )
      .map((leaf) => JSON.stringify(leaf)),
    fc.constantFrom('1.0', '-0.0', '12345678901234567890', '"x"'),
    fc
      .array(tie('value') as fc.Arbitrary<string>, { maxLength: 4 })
      .map((all) => `[${all.join()}]`),
    fc
      .uniqueArray(fc.tuple(KEY, tie('value') as fc.Arbitrary<string>), {
        maxLength: 4,
        selector: ([key]) => key,
      })
      .map((all) => `{${all.map(([key, one]) => `${JSON.stringify(key)}:${one}`).join()}}`),
  ),
}));
const PAYLOAD = fc
  .tuple(
    KEY.filter((key) => key !== '_sd' && key !== '...'),
    VALUE,
  )
  .map(([key, one]) => `{${JSON.stringify(key)}:${one},"z":[${one}]}`);
/** A choice that depends on nothing but the place. */
const CHOICE = fc.func(fc.boolean()).map(
  (choose) =>
    (path: Path): boolean =>
      choose(path.join('/')),
);

describe('for any JSON and any choice', () => {
  test('revealed it is what it was, and without disclosures the chain is the same', () => {
    fc.assert(
      fc.property(PAYLOAD, CHOICE, fc.nat(), (json, choose, left) => {
        const payload = read(json);
        const redacted = redact(payload, choose, counting());
        const all = reveal(redacted.payload, opening(redacted.disclosures));
        expect(canonicalJson(all.payload)).toBe(canonicalJson(payload));
        expect(all.commitments.map(({ state }) => state)).toEqual(
          redacted.disclosures.map(() => 'disclosed'),
        );
        // Any one of them may be gone.
        const gone = left % (redacted.disclosures.length + 1);
        const some = reveal(
          redacted.payload,
          opening(redacted.disclosures, (i) => i !== gone),
        );
        const withheld = some.commitments.filter(({ state }) => state === 'withheld');
        expect(withheld.length).toBe(gone < redacted.disclosures.length ? 1 : 0);
        const none = reveal(redacted.payload, () => undefined);
        expect(canonicalJson(none.payload)).toBe(canonicalJson(redacted.payload));
        // Whatever is deleted from the disclosures, the record's own bytes are as they were.
        const line = encodeRecord(EMPTY_HEAD, { kind: 'k', payload: redacted.payload });
        expect(
          encodeRecord(EMPTY_HEAD, { kind: 'k', payload: read(canonicalJson(none.payload)) }),
        ).toEqual(line);
      }),
      { numRuns: 500 },
    );
  });

  test('what says the same is redacted as it was; what says something else comes out otherwise', () => {
    fc.assert(
      fc.property(PAYLOAD, CHOICE, PAYLOAD, (json, choose, otherJson) => {
        const [payload, other] = [read(json), read(otherJson)];
        const redacted = redact(payload, choose, counting());
        const recorded = canonicalJson(redacted.payload);
        const open = opening(redacted.disclosures);
        expect(canonicalJson(redactAsIn(payload, redacted.payload, open))).toBe(recorded);
        const isSame = canonicalJson(other) === canonicalJson(payload);
        expect(canonicalJson(redactAsIn(other, redacted.payload, open)) === recorded).toBe(isSame);
      }),
      { numRuns: 500 },
    );
  });

  test('what was chosen is not in it', () => {
    fc.assert(
      fc.property(PAYLOAD, (json) => {
        const { payload, disclosures } = redact(
          read(json),
          (_, value) => typeof value === 'string',
          counting(),
        );
        const texts = (value: unknown): string[] =>
          typeof value === 'string'
            ? [value]
            : Object.entries(value ?? {}).flatMap(([key, member]) =>
                key === '_sd' || key === '...' ? [] : texts(member),
              );
        expect(texts(JSON.parse(canonicalJson(payload)))).toEqual([]);
        expect(new Set(disclosures).size).toBe(disclosures.length);
      }),
    );
  });
});

function isChosen(path: Path): boolean {
  return ['b', 'c', 'list/1'].includes(path.join('/'));
}

describe('the forms of RFC 9901', () => {
  const { payload, disclosures } = redact(
    { a: 1, b: 2, c: 3, list: ['x', 'y'] },
    isChosen,
    counting(),
  );

  test('a member leaves a digest in _sd, sorted; an element one in its place', () => {
    const digests = disclosures.map((text) => disclosureDigest(text));
    expect(payload).toEqual({
      a: 1,
      _sd: digests.slice(0, 2).toSorted(),
      list: ['x', { '...': digests[2] }],
    });
    expect(disclosures.map((text) => parseDisclosure(text))).toEqual([
      { salt: 'salt-1', name: 'b', value: 2 },
      { salt: 'salt-2', name: 'c', value: 3 },
      { salt: 'salt-3', value: 'y' },
    ]);
  });

  test('paths tell where it was, or what it was taken out of', () => {
    const { commitments } = reveal(
      payload,
      opening(disclosures, (i) => i !== 1),
    );
    expect(commitments.map(({ path, state }) => `${path.join('/')} ${state}`).toSorted()).toEqual([
      ' withheld',
      'b disclosed',
      'list/1 disclosed',
    ]);
  });

  test('one of an element is not put into an object, nor the other way round, nor over a member', () => {
    const [b = '', , y = ''] = disclosures;
    const open = opening([b, y]);
    for (const unfit of [
      { _sd: [disclosureDigest(y)] },
      { b: 1, _sd: [disclosureDigest(b)] },
      { list: [{ '...': disclosureDigest(b) }] },
    ]) {
      const found = reveal(unfit, open);
      expect(found.commitments.map(({ state }) => state)).toEqual(['unfit']);
      expect(found.payload).toEqual(unfit);
    }
  });

  test('a payload that has such a member itself is refused', () => {
    for (const name of ['_sd', '...'])
      expect(() => redact({ [name]: 1 }, () => false, counting())).toThrow(/stand for digests/);
  });
});

test('nesting as deep as a record can hold is taken out where there is no room for digests', () => {
  let deep: JsonValue = 'secret';
  for (let i = 1; i < MAX_DEPTH; i += 1) deep = [deep];
  const payload = { deep };
  const redacted = redact(payload, (_, value) => value === 'secret', counting());
  expect(redacted.disclosures.length).toBe(1);
  expect(encodeRecord(EMPTY_HEAD, { kind: 'k', payload: redacted.payload }).text).not.toContain(
    'secret',
  );
  const { payload: again } = reveal(redacted.payload, opening(redacted.disclosures));
  expect(canonicalJson(again)).toBe(canonicalJson(payload));
});

test('a hostile depth is no matter', () => {
  const deep = read(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
  expect(reveal(deep, () => undefined).commitments).toEqual([]);
});
