/**
 * Text that fits: in lines of a given width, broken between words alone, never inside a digest.
 *
 * @module
 */
import { stripVTControlCharacters } from 'node:util';
import { type Output } from './io.ts';

/** Wide characters of East Asia and pictures take two places on a terminal, marks none. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const NONE = /[\p{M}\u200c\u200d]/u;

/** How many places of a terminal a text takes. */
export function cells(text: string): number {
  let sum = 0;
  for (const character of stripVTControlCharacters(text)) {
    sum += NONE.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  }
  return sum;
}

/** Lines as a terminal shows them, with what follows a break below the words; elsewhere as they are: one line a fact. */
export function fitted(text: string, { terminal, columns }: Output): string {
  if (!terminal) return text;
  // One column less: some terminals wrap when the last one is written.
  const width = columns - 1;
  return text
    .split('\n')
    .map((line) => (cells(line) <= width ? line : hung(line, hangOf(line), width)))
    .join('\n');
}

/** A paragraph, which is in lines everywhere: for a terminal that is narrower, in shorter ones. */
export function wrapped(text: string, { terminal, columns }: Output): string {
  return hung(text, 0, terminal ? Math.min(PARAGRAPH, columns - 1) : PARAGRAPH);
}

const PARAGRAPH = 78;

/** Where the words of a line begin: below a file's name, or beside the name of an evidence. */
const NAMED = /^ {7}(?:signed|remembered|anchored|witnessed|note) +/;

function hangOf(line: string): number {
  return NAMED.exec(stripVTControlCharacters(line))?.[0].length ?? 7;
}

function hung(line: string, hang: number, width: number): string {
  const lines: string[] = [];
  let [now = '', ...words] = line.split(' ');
  for (const word of words) {
    const next = `${now} ${word}`;
    if (word === '' || now.trim() === '' || cells(next) <= width) {
      now = next;
      continue;
    }
    lines.push(now.trimEnd());
    // A digest may be wider than what is left beside the names.
    const indent = Math.max(0, Math.min(hang, width - cells(word)));
    now = ' '.repeat(indent) + word;
  }
  return [...lines, now].join('\n');
}
