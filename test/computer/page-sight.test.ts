/**
 * What a page writes of itself: its scripts may have replaced what writes it.
 *
 * @module
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readSight } from '../../src/computer/page-sight.ts';

const ITEM = {
  label: 'Save',
  kind: 'button',
  node: 0,
  x: 1,
  y: -2,
  width: 3,
  height: 4,
};
const FRAME = {
  port: { left: 0, top: 0.5, right: 10, bottom: 20 },
  scale: { x: 1, y: 0.5 },
  isStill: true,
};
const CANT = /^the page can't be looked at: its scripts replace/u;

test.each([
  [ITEM],
  [{ ...ITEM, value: 'held', states: ['checked'] }],
  [{ ...ITEM, frame: FRAME }],
  // Half a character is mended later, where observations of every screen are.
  [{ ...ITEM, label: '\ud800' }],
])('what a look writes is read as it is: %j', (item) => {
  const sight = { items: [item], texts: ['a', 'b'] };
  expect(readSight(JSON.stringify(sight))).toEqual(sight);
});

test.each([
  undefined,
  null,
  7,
  '',
  '[]',
  '{"items":[],"texts":[1]}',
  '{"items":"none","texts":[]}',
  '{"items":[null],"texts":[]}',
])('anything else is said: %j', (json) => {
  expect(() => readSight(json)).toThrow(CANT);
});

test.each([
  ...Object.keys(ITEM).map((name) => ({ ...ITEM, [name]: null })),
  { ...ITEM, value: 1 },
  { ...ITEM, states: 'checked' },
  { ...ITEM, x: 0.5 },
  { ...ITEM, frame: true },
  { ...ITEM, frame: { ...FRAME, port: null } },
  { ...ITEM, frame: { ...FRAME, scale: { x: null, y: 1 } } },
])('an element of another shape is said: %j', (item) => {
  expect(() => readSight(JSON.stringify({ items: [item], texts: [''] }))).toThrow(CANT);
});

test('no text makes it fail in another way', () => {
  const texts = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .record({ items: fc.array(fc.jsonValue()), texts: fc.array(fc.string()) })
      .map((value) => JSON.stringify(value)),
  );
  fc.assert(
    fc.property(texts, (json) => {
      try {
        expect(readSight(json)).toHaveProperty('items');
      } catch (error) {
        expect(String(error)).toMatch(/^ScreenGoneError: the page can't be looked at/u);
      }
    }),
  );
});
