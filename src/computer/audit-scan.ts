/**
 * The parts of an audit log's line, as bytes. Each function here takes a place or BAD, and gives the place after what it
 * expects there, or BAD, unless it says otherwise.
 *
 * @module
 */
import { ascii, BAD } from '../transcript/bytes.ts';
import { MAX_LINE_BYTES } from '../transcript/index.ts';
import { scanString } from '../transcript/scan.ts';
import { standsIn, wordsOf, type Words, type View } from '../transcript/words.ts';

export function after(view: View, at: number, expected: Words): number {
  return at !== BAD && standsIn(view, at, expected) ? at + expected.length : BAD;
}

/** What kind of entry this is and how it went, with the words that say so. */
export interface Result {
  readonly isStep: boolean;
  readonly isOk: boolean;
  readonly words: Words;
}

function resultOf(kind: 'step' | 'episode', isOk: boolean): Result {
  const words = wordsOf(`,"kind":"${kind}","ok":${isOk},"outcome":"`);
  return { isStep: kind === 'step', isOk, words };
}

export const GOOD_STEP: Result = resultOf('step', true);
const BAD_STEP = resultOf('step', false);
const GOOD_EPISODE = resultOf('episode', true);
const BAD_EPISODE = resultOf('episode', false);
/** Where the first letters of the kind and of `ok` stand in what says them. */
const KIND_AT = 9;
const STEP_OK_AT = 20;
const EPISODE_OK_AT = 23;

/** The only result that can be said at `at`, by the letters in which they differ. */
export function resultAt(bytes: Uint8Array, at: number): Result {
  if (bytes[at + KIND_AT] === 0x73) {
    return bytes[at + STEP_OK_AT] === 0x74 ? GOOD_STEP : BAD_STEP;
  }
  return bytes[at + EPISODE_OK_AT] === 0x74 ? GOOD_EPISODE : BAD_EPISODE;
}

export function afterNumber(bytes: Uint8Array, start: number, expected: number): number {
  let i = start;
  let value = 0;
  for (let byte = bytes[i] ?? 0; byte >= 0x30 && byte <= 0x39; byte = bytes[i] ?? 0) {
    value = value * 10 + byte - 0x30;
    i += 1;
  }
  // A number in other digits than its own begins with 0.
  const isPlain = i === start + 1 || (i > start && bytes[start] !== 0x30);
  return start !== BAD && isPlain && value === expected ? i : BAD;
}

export function string(bytes: Uint8Array, at: number): number {
  return at === BAD ? BAD : scanString(bytes, at);
}

const SUCCESS = wordsOf('success: ');
const FAILURE = wordsOf('failure: ');

/** Whether an episode has an empty action, and the outcome that `ok` asks for. */
export function isEnd(view: View, actionLength: number, outcome: number, ok: boolean): boolean {
  return actionLength === 0 && standsIn(view, outcome, ok ? SUCCESS : FAILURE);
}

/** Whether the line's end is missing, or too far away. */
export function hasNoEnd(start: number, next: number): boolean {
  return next === BAD || next - 1 - start > MAX_LINE_BYTES;
}

export function skip(at: number, length: number): number {
  return at === BAD ? BAD : at + length;
}

/** 1 for each lower-case hexadecimal digit. */
const IS_HEX: Uint8Array = new Uint8Array(256);
for (const byte of ascii('0123456789abcdef')) IS_HEX[byte] = 1;

/** The digest of a screen: a step has one. */
const SCREEN_LENGTH = 16;

export function afterScreen(bytes: Uint8Array, at: number): number {
  if (at === BAD) return BAD;
  for (let i = at; i < at + SCREEN_LENGTH; i += 4) if (!isHex4(bytes, i)) return BAD;
  return at + SCREEN_LENGTH;
}

function isHex4(bytes: Uint8Array, i: number): boolean {
  // Beyond the end the table gives `undefined`, which counts as 0 in `&`; `as` spares comparisons in the hot loop.
  const a = IS_HEX[bytes[i] as number] as number;
  const b = IS_HEX[bytes[i + 1] as number] as number;
  const c = IS_HEX[bytes[i + 2] as number] as number;
  const d = IS_HEX[bytes[i + 3] as number] as number;
  return (a & b & c & d) === 1;
}

/** `"}` and the newline. */
export function afterEnd(bytes: Uint8Array, at: number): number {
  if (at === BAD) return BAD;
  return bytes[at] === 0x22 && bytes[at + 1] === 0x7d && bytes[at + 2] === 0x0a ? at + 3 : BAD;
}
