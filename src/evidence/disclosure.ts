/**
 * Disclosures (RFC 9901, Selective Disclosure for JWTs, §4.2): a value with a salt, and the digest that
 * stands where the value was.
 *
 * @module
 */
import { sha256 } from '#sha256';
import {
  canonicalJson,
  isJsonArray,
  parseJson,
  type JsonObject,
  type JsonValue,
} from '../transcript/index.ts';
import { decodeBase64Url, decodeText, encodeBase64Url, utf8 } from './encoding.ts';

/** The member of an object that holds the digests of the members that were taken out of it. */
export const DIGESTS = '_sd';
/** The only member of what stands for an element that was taken out of an array. */
export const ELEMENT = '...';

/** A value that was taken out. */
export interface Disclosure {
  /** At least 128 random bits, as text: without them the digest of a guessable value could be tried out. */
  readonly salt: string;
  /** The member's name; undefined for an element of an array. */
  readonly name?: string | undefined;
  readonly value: JsonValue;
}

/** base64url of the JSON of `[salt, name, value]`, or of `[salt, value]` for an element. */
export function encodeDisclosure({ salt, name, value }: Disclosure): string {
  const parts = name === undefined ? [salt, value] : [salt, name, value];
  return encodeBase64Url(utf8(canonicalJson(parts, Infinity)));
}

/**
 * Reads a disclosure. Its JSON may be spelled in any way, as the digest is of the encoded text. Never throws:
 * undefined for a text that is none, or whose value can't be recorded.
 */
export function parseDisclosure(text: string): Disclosure | undefined {
  const bytes = decodeBase64Url(text);
  const parts = bytes === undefined ? undefined : jsonOf(bytes);
  if (!isJsonArray(parts)) return undefined;
  const [salt, second, third] = parts;
  if (typeof salt !== 'string' || second === undefined || parts.length > 3) return undefined;
  if (third === undefined) return { salt, value: second };
  // RFC 9901 §7.1: such names would be taken for digests.
  const isName = typeof second === 'string' && second !== DIGESTS && second !== ELEMENT;
  return isName ? { salt, name: second, value: third } : undefined;
}

/** base64url of the SHA-256 of a disclosure's text. */
export function disclosureDigest(disclosure: string): string {
  return encodeBase64Url(sha256(utf8(disclosure)));
}

/** The digests of the members that were taken out of an object; none if it holds no list of digests. */
export function digestsOf(object: JsonObject): readonly string[] {
  const digests = Object.hasOwn(object, DIGESTS) ? object[DIGESTS] : undefined;
  if (!isJsonArray(digests)) return [];
  const texts = digests.filter(isDigest);
  return texts.length === digests.length ? texts : [];
}

/** The digest that stands for an element of an array; undefined if it is an element itself. */
export function digestOf(element: JsonObject): string | undefined {
  const digest = Object.hasOwn(element, ELEMENT) ? element[ELEMENT] : undefined;
  return isDigest(digest) && Object.keys(element).length === 1 ? digest : undefined;
}

function isDigest(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9_-]{43}$/.test(value);
}

function jsonOf(bytes: Uint8Array): JsonValue | undefined {
  try {
    const parsed = parseJson(decodeText(bytes, 'disclosure'));
    if (!parsed.ok || parsed.duplicate !== null) return undefined;
    // Refuses what no record can hold: lone surrogates. A number beyond a double's range it can't see.
    canonicalJson(parsed.value, Infinity);
    return parsed.overflow === null ? parsed.value : undefined;
  } catch {
    return undefined;
  }
}
