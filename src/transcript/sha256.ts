/**
 * SHA-256 (FIPS 180-4) in plain JavaScript, for browsers, whose WebCrypto hashes only asynchronously.
 *
 * @module
 */

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes (§4.2.2). */
const K: Uint32Array = rootConstants(64, 1 / 3);
/** The same of the square roots of the first 8 primes (§5.3.3). */
const INITIAL: Uint32Array = rootConstants(8, 1 / 2);

const encoder = new TextEncoder();

/** Lower-case hex SHA-256 of bytes, or of the UTF-8 form of a string. */
export function sha256Hex(data: string | Uint8Array): string {
  const state = digest(typeof data === 'string' ? encoder.encode(data) : data);
  return Array.from(state, (word) => word.toString(16).padStart(8, '0')).join('');
}

/** SHA-256 of bytes, as bytes. */
export function sha256(data: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(32);
  const view = new DataView(bytes.buffer);
  digest(data).forEach((word, i) => {
    view.setUint32(i * 4, word);
  });
  return bytes;
}

/** SHA-256 of bytes, one character per byte: half the hex form's characters, where only comparing is wanted. */
export function sha256Binary(data: Uint8Array): string {
  return String.fromCharCode(...sha256(data));
}

/** §6.2: the eight words of the digest. */
function digest(data: Uint8Array): Uint32Array {
  const message = pad(data);
  const view = new DataView(message.buffer);
  const state = INITIAL.slice();
  const schedule = new Uint32Array(64);
  for (let offset = 0; offset < message.length; offset += 64)
    compress(state, schedule, view, offset);
  return state;
}

/** §5.1.1: a 1 bit, zeros, and the length in bits as 64-bit big-endian. */
function pad(data: Uint8Array): Uint8Array<ArrayBuffer> {
  const padded = new Uint8Array((((data.length + 8) >>> 6) + 1) * 64);
  padded.set(data);
  padded[data.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(data.length / 0x20000000));
  view.setUint32(padded.length - 4, (data.length << 3) >>> 0);
  return padded;
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

/** §6.2.2, step 1: the block's words, and 48 more made of them. */
function expand(w: Uint32Array, view: DataView, offset: number): void {
  for (let t = 0; t < 16; t += 1) w[t] = view.getUint32(offset + t * 4);
  for (let t = 16; t < 64; t += 1) {
    const [x = 0, y = 0, near = 0, far = 0] = [w[t - 15], w[t - 2], w[t - 7], w[t - 16]];
    const small0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3);
    const small1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10);
    w[t] = small1 + near + small0 + far;
  }
}

/** §6.2.2: one 64-byte block. */
function compress(state: Uint32Array, w: Uint32Array, view: DataView, offset: number): void {
  expand(w, view, offset);
  const v = state.slice();
  for (let t = 0; t < 64; t += 1) round(v, (K[t] ?? 0) + (w[t] ?? 0));
  for (let i = 0; i < 8; i += 1) state[i] = (state[i] ?? 0) + (v[i] ?? 0);
}

/** §6.2.2, step 3: one round on the working variables a…h. */
function round(v: Uint32Array, input: number): void {
  const at = (i: number): number => v[i] ?? 0;
  const [a, b, c, e, f, g] = [at(0), at(1), at(2), at(4), at(5), at(6)];
  const big1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
  const t1 = at(7) + big1 + ((e & f) ^ (~e & g)) + input;
  const big0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
  const t2 = big0 + ((a & b) ^ (a & c) ^ (b & c));
  v.copyWithin(1, 0, 7);
  v[0] = t1 + t2;
  v[4] = at(4) + t1;
}

/** The fractional parts of the primes' roots. A double holds 53 bits, of which these need at most 40. */
function rootConstants(count: number, power: number): Uint32Array {
  const words = new Uint32Array(count);
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n += 1) {
    if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  }
  primes.forEach((prime, i) => {
    const root = prime ** power;
    words[i] = Math.floor((root - Math.floor(root)) * 2 ** 32);
  });
  return words;
}
