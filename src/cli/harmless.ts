/**
 * Text from models, tools and files, made harmless for a terminal: control characters, escape sequences,
 * invisible and direction-changing characters are shown instead of obeyed.
 *
 * @module
 */

/**
 * Controls, format characters (direction overrides, tags), lone surrogates and line separators. The two
 * joiners stay: scripts and emoji need them, and they move nothing.
 */
const DANGEROUS = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** Text of several lines: line feeds and tabs stay. */
export function harmless(text: string): string {
  return text.replace(DANGEROUS, (character) =>
    character === '\n' || character === '\t' ? character : visible(character),
  );
}

/** Text that must stay on one line. */
export function oneLine(text: string): string {
  return text.replace(DANGEROUS, visible);
}

/** JSON whose dangerous characters are escaped; it says the same. */
export function harmlessJson(json: string): string {
  return json.replace(DANGEROUS, (character) =>
    character === '\n'
      ? character
      : character
          .split('')
          .map((unit) => `\\u${hex(unit.charCodeAt(0))}`)
          .join(''),
  );
}

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function visible(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  return SHORT[character] ?? (point > 0xffff ? `\\u{${point.toString(16)}}` : `\\u${hex(point)}`);
}

function hex(unit: number): string {
  return unit.toString(16).padStart(4, '0');
}
