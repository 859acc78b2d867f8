/**
 * Whether a number is spelled canonically (docs/format.md §3.2), mostly without converting it.
 *
 * @module
 */
import { BAD, MINUS, NINE, ZERO } from './bytes.ts';
import { floatText } from './number.ts';

const PLUS = 0x2b;
const DOT = 0x2e;
const LOWER_E = 0x65;

/** A number: plain digits, or the one spelling that Python gives the double it stands for. */
export function scanNumber(bytes: Uint8Array, start: number): number {
  const lead = bytes[start] === MINUS ? start + 1 : start;
  const end = skipDigits(bytes, lead);
  if (end === lead || (bytes[lead] === ZERO && end > lead + 1)) return BAD;
  if (isFloatByte(bytes[end])) return scanFloat(bytes, start, lead, end);
  return bytes[lead] === ZERO && lead > start ? BAD : end; // `-0` is written `0`
}

/**
 * A decimal of at most 15 digits reads back as a double that no other such decimal gives, so its own
 * digits are the shortest. That settles the common spellings without converting; any other is converted.
 */
function scanFloat(bytes: Uint8Array, start: number, lead: number, point: number): number {
  const end = bytes[point] === DOT ? skipDigits(bytes, point + 1) : point;
  const isShort = end - lead <= 16;
  if (isShort && bytes[end] === LOWER_E && scanMantissa(bytes, lead, end)) {
    const after = scanExponent(bytes, end + 1);
    if (after !== BAD) return after;
  } else if (isShort && !isFloatByte(bytes[end]) && isPositional(bytes, lead, point, end)) {
    return end;
  }
  return scanAnyFloat(bytes, start, end);
}

/** Digits, a point and digits without a needless zero: `0.00…` only down to 1e-4. */
function isPositional(bytes: Uint8Array, lead: number, point: number, end: number): boolean {
  if (bytes[end - 1] === ZERO) return end === point + 2; // `1.0`
  if (bytes[lead] !== ZERO) return end > point + 1;
  let zeros = 0;
  while (bytes[point + 1 + zeros] === ZERO) zeros += 1;
  return zeros < 4 && end > point + 1;
}

/** One digit that isn't 0, and after a point digits that don't end in 0. */
function scanMantissa(bytes: Uint8Array, lead: number, end: number): boolean {
  if (bytes[lead] === ZERO) return false;
  return end === lead + 1 || (bytes[lead + 1] === DOT && end > lead + 2 && bytes[end - 1] !== ZERO);
}

/** A sign and two digits, at most -5 or at least 16, after which the number ends. */
function scanExponent(bytes: Uint8Array, at: number): number {
  const end = skipDigits(bytes, at + 1);
  if (end !== at + 3 || isFloatByte(bytes[end])) return BAD;
  const value = ((bytes[at + 1] ?? 0) - ZERO) * 10 + (bytes[at + 2] ?? 0) - ZERO;
  const isWritten = bytes[at] === MINUS ? value >= 5 : bytes[at] === PLUS && value >= 16;
  return isWritten ? end : BAD;
}

function scanAnyFloat(bytes: Uint8Array, start: number, from: number): number {
  let i = from;
  // The longest such spelling is 24 characters: `-2.2250738585072014e-308`.
  while (i - start < 25 && isFloatByte(bytes[i])) i += 1;
  if (i - start > 25) return BAD;
  const text = String.fromCharCode(...bytes.subarray(start, i));
  const value = Number(text);
  return Number.isFinite(value) && floatText(value) === text ? i : BAD;
}

function skipDigits(bytes: Uint8Array, start: number): number {
  let i = start;
  for (let byte = bytes[i]; byte !== undefined && byte >= ZERO && byte <= NINE; byte = bytes[i]) {
    i += 1;
  }
  return i;
}

function isFloatByte(byte: number | undefined): boolean {
  if (byte === DOT || byte === LOWER_E) return true;
  if (byte === undefined) return false;
  return (byte >= ZERO && byte <= NINE) || byte === MINUS || byte === PLUS;
}
