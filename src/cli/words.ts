/**
 * Text for people: harmless on a terminal, short, and in words.
 *
 * @module
 */

/**
 * Controls, format characters (direction overrides, tags), lone surrogates and line separators: on a
 * terminal they are shown instead of obeyed. The two joiners stay: scripts and emoji need them, and they
 * move nothing.
 */
const DANGEROUS = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** Text of several lines from a model, a tool or a file: line feeds and tabs stay. */
export function harmless(text: string): string {
  return text.replace(DANGEROUS, (character) =>
    character === '\n' || character === '\t' ? character : visible(character),
  );
}

/** Such text where it must stay on one line. */
export function oneLine(text: string): string {
  return text.replace(DANGEROUS, visible);
}

/** JSON whose dangerous characters are escaped; it says the same. */
export function harmlessJson(json: string): string {
  return json.replace(DANGEROUS, (character) =>
    character
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

/** `1 record`, `1,204 records`. */
export function count(n: number, noun: string): string {
  return `${number(n)} ${noun}${n === 1 ? '' : 's'}`;
}

/** `1,204`; no locale, so that the output is the same everywhere. */
export function number(n: number): string {
  const [whole = '', ...fraction] = String(n).split('.');
  return [whole.replaceAll(/\B(?=(\d{3})+$)/g, ','), ...fraction].join('.');
}

/** `$0.0012`: four digits after the point, or more where the amount is smaller. */
export function dollars(usd: number): string {
  return `$${usd.toFixed(usd >= 0.01 ? 4 : 9).replace(/\.?0+$/, '')}`;
}

/** `0.4 s`, `12 s`, `3 min 5 s`. */
export function duration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  const rest = Math.floor(seconds) % 60;
  return `${number(Math.floor(seconds / 60))} min${rest === 0 ? '' : ` ${rest} s`}`;
}

/** Text of at most `length` characters, and how many were left out. */
export function cut(text: string, length: number): string {
  const kept = beginning(text, length);
  return kept === text ? text : `${kept}… (${count(text.length - kept.length, 'more character')})`;
}

/** The first `length` UTF-16 units, or one less where that would halve a character. */
export function beginning(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}

/** `2026-11-30 16:20:05 UTC`. */
export function timeWords(iso: string): string {
  return datesInWords(oneLine(iso));
}

/** Words with all their times so. */
export function datesInWords(words: string): string {
  return words.replaceAll(ISO_TIME, '$1 $2 UTC');
}

/** The time of a record, to its last digit: `2026-11-30 16:20:05.123 UTC`. */
export function momentWords(iso: string): string {
  return oneLine(iso).replaceAll(ISO_TIME, '$1 $2$3 UTC');
}

const ISO_TIME = /\b(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?Z(?!\w)/g;

/** An error's message: its first line, without the stack. */
export function problemOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return oneLine(text.split('\n', 1)[0] ?? '');
}
