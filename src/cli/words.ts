/**
 * Numbers, counts and long texts in words.
 *
 * @module
 */

/** `1 record`, `1,204 records`. */
export function count(n: number, noun: string): string {
  return `${number(n)} ${noun}${n === 1 ? '' : 's'}`;
}

/** `1,204`; no locale, so that the output is the same everywhere. */
export function number(n: number): string {
  const [whole = '', fraction] = String(n).split('.');
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** `$0.0012`: four digits after the point, or more where the amount is smaller. */
export function dollars(usd: number): string {
  if (usd === 0) return '$0';
  return `$${usd >= 0.01 ? trimZeros(usd.toFixed(4)) : trimZeros(usd.toFixed(9))}`;
}

/** `0.4 s`, `12 s`, `3 min 5 s`. */
export function duration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  const rest = Math.floor(seconds) % 60;
  const minutes = `${number(Math.floor(seconds / 60))} min`;
  return rest === 0 ? minutes : `${minutes} ${rest} s`;
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

function trimZeros(text: string): string {
  return text.replace(/\.?0+$/, '');
}
