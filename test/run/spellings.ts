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
    // What spells an escape's own letter spells no escape; beside backslashes of other depths nobody can tell.
    ...('ubfnrt'.includes(char)
      ? []
      : [escaped, escaped.replaceAll('\\', '\\\\'), escaped.toUpperCase().replaceAll('U', 'u')]),
    ...(letter === undefined ? [] : [`\\${letter}`, `\\\\\\${letter}`]),
    ...(char === '\\' ? ['\\\\\\\\'] : []),
    ...(char === '/' ? ['\\/'] : []),
    ...(char === ' ' ? ['+'] : []),
  ];
}

/** JSON with every character escaped. */
export const allEscaped = (text: string): string =>
  Array.from({ length: text.length }, (_, i) => `\\u${hex(text.charCodeAt(i))}`).join('');

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** The ways of writing a whole text once more. `which` says of its characters whether they are escaped. */
const LAYERS: readonly ((text: string, which: readonly boolean[]) => string)[] = [
  inJson,
  allEscaped,
  (text, which) =>
    Array.from({ length: text.length }, (_, i) => i)
      .map((i) => (which[i % which.length] === true ? allEscaped : inJson)(text.charAt(i)))
      .join(''),
  (text) => Array.from(Buffer.from(text), percent).join(''),
  (text) => encodeURIComponent(text.toWellFormed()),
];

/** What is written again in each of some ways. */
function inLayers(
  { secret, text }: Spelled,
  layers: readonly { readonly layer: number; readonly which: readonly boolean[] }[],
): Spelled {
  const write = (inner: string, { layer, which }: (typeof layers)[number]): string =>
    LAYERS[layer]?.(inner, which) ?? inner;
  return { secret, text: layers.reduce(write, text) };
}

/** A text, and how it is spelled. */
interface Spelled {
  readonly secret: string;
  readonly text: string;
}

/** A text, and one of its spellings: each character in some way, or the whole in up to four. */
export function anySpelling(secret: string): fc.Arbitrary<Spelled> {
  const mixed = fc
    .tuple(...Array.from(secret, (char) => fc.constantFrom(...waysOf(char))))
    .map((ways) => ({ secret, text: ways.join('') }));
  const which = fc.array(fc.boolean(), { minLength: 1, maxLength: 9 });
  const layers = fc.array(fc.record({ layer: fc.nat(LAYERS.length - 1), which }), { maxLength: 4 });
  return fc.oneof(
    mixed,
    layers.map((ways) => inLayers({ secret, text: secret }, ways)),
  );
}
