/**
 * The time of an audit log's entry as bytes: `2026-11-30T07:47:33+00:00`.
 *
 * @module
 */
import { ascii } from '../transcript/bytes.ts';

/** `0` stands for a digit. */
const TIME = ascii('0000-00-00T00:00:00');
/** How many bytes it has without its zone. */
export const TIME_LENGTH: number = TIME.length;
/** The only zone there is. */
export const ZONE = '+00:00';
/** Where the seconds begin. */
export const SECONDS_AT = 17;
/** Where a time's parts stand, and their least and greatest values. */
const PARTS = [
  [5, 1, 12],
  [8, 1, 31],
  [11, 0, 23],
  [14, 0, 59],
  [17, 0, 59],
] as const;

/** Whether a time stands at `at`, up to its zone: one that there may be. */
export function isTime(bytes: Uint8Array, at: number): boolean {
  for (let i = 0; i < TIME_LENGTH; i += 1) {
    const byte = bytes[at + i];
    if (TIME[i] === 0x30 ? !isDigit(byte, 0x39) : byte !== TIME[i]) return false;
  }
  for (const part of PARTS) if (!isWithin(bytes, at, part)) return false;
  return true;
}

/** Whether seconds stand at `at`. */
export function isSeconds(bytes: Uint8Array, at: number): boolean {
  return isDigit(bytes[at], 0x35) && isDigit(bytes[at + 1], 0x39);
}

function isDigit(byte: number | undefined, most: number): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= most;
}

function isWithin(
  bytes: Uint8Array,
  time: number,
  [at, least, most]: (typeof PARTS)[number],
): boolean {
  const value = ((bytes[time + at] ?? 0) - 0x30) * 10 + (bytes[time + at + 1] ?? 0) - 0x30;
  return value >= least && value <= most;
}
