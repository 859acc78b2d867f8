/**
 * The paths that a file has by way of links.
 *
 * @module
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isFileItself, isThere, placeOf, placesOf } from '../../src/attest/place-of.ts';
import { inFolder, meantPath } from '../../src/store/place.ts';

let folder = '';

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'hashtape-place-')));
  mkdirSync(join(folder, 'real/deep'), { recursive: true });
  writeFileSync(join(folder, 'real/deep/a.jsonl'), '');
  symlinkSync('real', join(folder, 'link'));
  symlinkSync('deep', join(folder, 'real/other'));
  symlinkSync('a.jsonl', join(folder, 'real/deep/b.jsonl'));
  symlinkSync('nowhere', join(folder, 'dangling'));
  symlinkSync('round', join(folder, 'round'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

test.each<[string, readonly string[]]>([
  ['real/deep/a.jsonl', ['real/deep/a.jsonl']],
  ['real/deep/gone.jsonl', ['real/deep/gone.jsonl']],
  ['real/gone/gone.jsonl', ['real/gone/gone.jsonl']],
  ['link/deep/a.jsonl', ['real/deep/a.jsonl', 'link/deep/a.jsonl']],
  ['link/deep/gone.jsonl', ['real/deep/gone.jsonl', 'link/deep/gone.jsonl']],
  ['real/deep/b.jsonl', ['real/deep/a.jsonl', 'real/deep/b.jsonl']],
  [
    'link/other/b.jsonl',
    ['real/deep/a.jsonl', 'real/deep/b.jsonl', 'real/other/b.jsonl', 'link/other/b.jsonl'],
  ],
  ['link', ['real', 'link']],
  ['dangling', ['dangling']],
  ['dangling/x', ['dangling/x']],
  ['round/x', ['round/x']],
  ['real/deep/a.jsonl/x', ['real/deep/a.jsonl/x']],
])('%s', (name, expected) => {
  const places = placesOf(join(folder, name));
  expect(places.map((place) => relative(folder, place))).toEqual(expected);
  expect(places).toContain(placeOf(join(folder, name)));
});

test('the root, and a path without end', () => {
  expect(placesOf('/')).toEqual(['/']);
  expect(placesOf(join(folder, 'x'.repeat(300)))).toEqual([join(folder, 'x'.repeat(300))]);
});

function at(name: string): [boolean, boolean] {
  return [isThere(join(folder, name)), isFileItself(join(folder, name))];
}

test('what is there, and what is there itself', () => {
  expect(at('real/deep/a.jsonl')).toEqual([true, true]);
  expect(at('link/deep/b.jsonl')).toEqual([true, false]);
  expect(at('real/deep')).toEqual([false, false]);
  for (const name of ['gone', 'dangling', 'real/deep/a.jsonl/x', 'round/x']) {
    expect(at(name), name).toEqual([false, false]);
  }
});

test.each<[string, string]>([
  ['link/../a.jsonl', 'a.jsonl'],
  ['real/other/../a.jsonl', 'real/a.jsonl'],
  ['up/../a.jsonl', 'real/a.jsonl'],
  ['up/.././/../x', 'x'],
  ['up/../other/a.jsonl', 'real/other/a.jsonl'],
  ['up/..', 'real'],
  ['link/deep/a.jsonl/', 'link/deep/a.jsonl'],
  // Nothing is there, so nothing can be read by it.
  ['gone/../a.jsonl', 'a.jsonl'],
  ['dangling/../a.jsonl', 'a.jsonl'],
])('what is meant by %s', (name, expected) => {
  symlinkSync('real/deep', join(folder, 'up'));
  expect(relative(folder, meantPath(`${folder}/${name}`))).toBe(expected);
  expect(relative(folder, meantPath(name, folder))).toBe(expected);
});

test('a file is where it is read, also where a link’s own target goes through one', () => {
  symlinkSync('real/deep', join(folder, 'up'));
  symlinkSync('up/../deep/a.jsonl', join(folder, 'c.jsonl'));
  for (const name of ['up/../deep/a.jsonl', 'up/../other/b.jsonl', 'c.jsonl']) {
    expect(existsSync(`${folder}/${name}`)).toBe(true);
    expect(placesOf(`${folder}/${name}`)[0], name).toBe(join(folder, 'real/deep/a.jsonl'));
  }
});

test('above the root, and longer than any path', () => {
  expect(meantPath('/../../x')).toBe('/x');
  expect(meantPath(`/${'x/'.repeat(50_000)}${'../'.repeat(50_000)}y`)).toBe('/y');
});

test('a file in a folder is called so that it means the same', () => {
  expect(inFolder('.', 'a.jsonl')).toBe('a.jsonl');
  expect(inFolder('runs//', 'a.jsonl')).toBe('runs/a.jsonl');
  expect(inFolder('up/..//', 'a.jsonl')).toBe('up/../a.jsonl');
  expect(inFolder('/', 'a.jsonl')).toBe('/a.jsonl');
});
