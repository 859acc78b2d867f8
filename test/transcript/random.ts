/**
 * A seeded generator of transcripts, and of ways to damage them.
 *
 * @module
 */
import { Verbatim, type Draft, type JsonValue } from '../../src/transcript/index.ts';
import { bytesOf, chain, rehashed } from './sample.ts';

/** A source of random numbers that gives the same ones for the same seed (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** An integer from 0, below `limit`. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let x = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return Math.floor((((x ^ (x >>> 14)) >>> 0) / 2 ** 32) * limit);
  }

  pick<T>(from: readonly T[]): T {
    const picked = from[this.below(from.length)];
    if (picked === undefined) throw new RangeError('nothing to pick from');
    return picked;
  }
}

/** Each code point of a text. */
function codePoints(all: string): string[] {
  return Array.from(all);
}

const CHARACTERS: readonly string[] = codePoints(
  'aB0 /"\\\n\r\t\b\f\0\u000b\u001c\u001f\u007f\u0080\u0085\u00e9\u0301\u2028\u2029' +
    '\ud7ff\ue000\ufeff\ufffd\uffff\u{10000}\u{1f600}\u{10ffff}',
);

function text(random: Random, characters: readonly string[] = CHARACTERS): string {
  return Array.from({ length: random.below(7) }, () => random.pick(characters)).join('');
}

function digits(random: Random, length: number): string {
  const rest = Array.from({ length: length - 1 }, () => random.below(10)).join('');
  return `${1 + random.below(9)}${rest}`;
}

function double(random: Random): number {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setUint32(0, random.below(2 ** 32));
  bytes.setUint32(4, random.below(2 ** 32));
  const value = bytes.getFloat64(0);
  return Number.isFinite(value) ? value : 0.1;
}

function number(random: Random): JsonValue {
  switch (random.below(8)) {
    case 0:
      return random.below(100) - 50;
    case 1:
      return BigInt(digits(random, 1 + random.below(60)));
    case 2:
      return new Verbatim(`-${digits(random, 30)}`);
    case 3:
      return new Verbatim(
        random.pick(['1.0', '-0.0', '0.0', '1e+16', '123456.0', '1e-07', '1e+22']),
      );
    case 4:
      return double(random);
    case 5:
      return (random.below(2_000_001) - 1_000_000) / 10 ** random.below(9);
    case 6:
      return random.pick([
        1e16,
        1e21,
        1e-4,
        1e-5,
        5e-324,
        2 ** 53,
        1e20,
        -0,
        1.7976931348623157e308,
      ]);
    default:
      return random.below(2 ** 32) * 2 ** random.below(20);
  }
}

function anyValue(random: Random, depth: number): JsonValue {
  const kind = random.below(depth > 0 ? 8 : 5);
  if (kind === 0) return random.pick([null, true, false]);
  if (kind < 3) return number(random);
  if (kind < 5) return text(random);
  const members = Array.from({ length: random.below(5) }, () => anyValue(random, depth - 1));
  if (kind === 5) return members;
  return Object.fromEntries(members.map((member) => [text(random), member]));
}

export function drafts(random: Random): Draft[] {
  const records = Array.from({ length: random.below(6) }, (): Draft => {
    const payload = { [text(random)]: anyValue(random, 4), v: anyValue(random, 3) };
    const kind = random.pick(['user', 'assistant', 'tool', 'recovered', text(random)]);
    return { kind, payload: random.below(5) === 0 ? [payload] : payload };
  });
  return random.below(4) === 0 ? records : [...records, { kind: 'final', payload: {} }];
}

/** Bytes and texts that JSON, UTF-8 or the format care about. */
const PIECES: readonly string[] = [
  ...codePoints('"\\{}[],: \n\r\t\0-+.019eE\u2028\ufeff\u{1f600}'),
  ...'1.0 -0 1e999 NaN null \\u0061 \\ud800 \\n "a":1, "seq":0, {} [1] ,"x":1'.split(' '),
  '\r\n',
  '\n\n',
];

/** One change of a transcript's bytes. */
export function damaged(random: Random, bytes: Uint8Array): Uint8Array {
  const at = random.below(bytes.length + 1);
  const before = bytes.subarray(0, at);
  switch (random.below(6)) {
    case 0:
      return Buffer.concat([before, Uint8Array.of(random.below(256)), bytes.subarray(at + 1)]);
    case 1:
      return Buffer.concat([before, bytesOf(random.pick(PIECES)), bytes.subarray(at)]);
    case 2:
      return Buffer.concat([before, bytesOf(random.pick(PIECES)), bytes.subarray(at + 1)]);
    case 3:
      return Buffer.concat([before, bytes.subarray(at + 1 + random.below(12))]);
    case 4:
      return before;
    default: {
      const from = random.below(bytes.length + 1);
      return Buffer.concat([
        before,
        bytes.subarray(from, from + random.below(200)),
        bytes.subarray(at),
      ]);
    }
  }
}

/** A transcript whose lines were dropped, doubled, swapped, respelled or edited, some rehashed. */
export function rearranged(random: Random, lines: readonly string[]): string {
  const result = [...lines];
  const at = random.below(lines.length);
  const line = result[at] ?? '';
  switch (random.below(6)) {
    case 0:
      result.splice(at, 1);
      break;
    case 1:
      result.splice(at, 0, line);
      break;
    case 2:
      result.push(...result.splice(at, 1));
      break;
    case 3:
      result[at] = rehashed(line, (rest) => rest.replace(/\d+(?=\}$)/, String(random.below(6))));
      break;
    case 4:
      result[at] = rehashed(line, (rest) =>
        rest.replace('"payload":', () => `"payload":${text(random, PIECES)}`),
      );
      break;
    default:
      result[at] = spelledOtherwise(random, line);
  }
  return result.join('');
}

/** A line with its content's right hash and other bytes, or nearly so. */
function spelledOtherwise(random: Random, line: string): string {
  switch (random.below(6)) {
    case 0:
      return line.replace('"kind"', () => ' "kind"');
    case 1:
      return line.replace('"kind"', () => '"k\\u0069nd"');
    case 2:
      return line.replace('\n', '\r\n');
    case 3:
      return line.replace('"payload":', () => '"payload":[1],"payload":');
    case 4:
      return line.replace(/(\d)\.(\d)/, '$1.$20');
    default:
      return line.replace(/"seq":(\d+)\}\n$/, '"seq":$1,"seq":$1}\n');
  }
}

/** A few hundred or thousand files, good and bad, always the same for a seed. */
export function files(seed: number, count: number): Uint8Array[] {
  const random = new Random(seed);
  return Array.from({ length: count }, () => {
    const lines = chain(drafts(random));
    const bytes = bytesOf(lines.join(''));
    switch (random.below(5)) {
      case 0:
        return bytes;
      case 1:
        return lines.length === 0 ? bytes : bytesOf(rearranged(random, lines));
      case 2:
        return damaged(random, damaged(random, bytes));
      default:
        return damaged(random, bytes);
    }
  });
}
