/**
 * The ways in which addresses and JSON write a text, in any mix.
 *
 * @module
 */
import * as fc from 'fast-check';

export const percent = (byte: number): string => `%${byte.toString(16).padStart(2, '0')}`;
export const hex = (unit: number): string => unit.toString(16).padStart(4, '0');

/** The ways of writing a character. */
function waysOf(char: string): readonly string[] {
  const units = Array.from({ length: char.length }, (_, i) => hex(char.charCodeAt(i)));
  const letter = /^"\\(.)"$/.exec(JSON.stringify(char))?.[1];
  const coded = Array.from(Buffer.from(char), percent).join('');
  const escaped = units.map((unit) => `\\u${unit}`).join('');
  return [
    char,
    coded,
    coded.toUpperCase(),
    encodeURIComponent(coded),
    // What spells an escape's own letter spells no escape.
    ...(char === 'u'
      ? []
      : [escaped, escaped.replaceAll('\\', '\\\\\\'), escaped.toUpperCase().replaceAll('U', 'u')]),
    ...(letter === undefined ? [] : [`\\${letter}`, `\\\\\\${letter}`]),
    ...(char === '\\' ? ['\\\\\\\\'] : []),
    ...(char === '/' ? ['\\/'] : []),
    ...(char === ' ' ? ['+'] : []),
  ];
}

/** A text, and one of its spellings. */
export function anySpelling(secret: string): fc.Arbitrary<{ secret: string; text: string }> {
  return fc
    .tuple(...Array.from(secret, (char) => fc.constantFrom(...waysOf(char))))
    .map((ways) => ({ secret, text: ways.join('') }));
}
