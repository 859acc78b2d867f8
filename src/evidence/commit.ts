/**
 * Takes chosen values out of a payload and leaves their digests, puts them back, and takes out again what a
 * record took out. Pure: salts and choices are passed in.
 *
 * @module
 */
import {
  canonicalJson,
  CanonicalError,
  isJsonArray,
  isJsonObject,
  MAX_DEPTH,
  parseJson,
  Verbatim,
  type JsonObject,
  type JsonValue,
  type TranscriptRecord,
} from '../transcript/index.ts';
import {
  DIGESTS,
  digestOf,
  digestsOf,
  disclosureDigest,
  ELEMENT,
  encodeDisclosure,
  type Disclosure,
} from './disclosure.ts';

export type Payload = TranscriptRecord['payload'];

/** Where a value stands in a payload: the names and indices that lead to it. */
export type Path = readonly (string | number)[];

/** A payload without what was chosen, and the disclosures of it. */
export interface Redacted {
  readonly payload: Payload;
  readonly disclosures: readonly string[];
}

/**
 * Takes out what `choose` says, the outermost first: nothing is looked for within what is taken out.
 *
 * Objects that have a member `_sd` or `...` themselves are taken out too, so that none is ever mistaken for
 * digests; and so is what is nested so deeply that there is no room for a digest.
 *
 * @param salt gives a new one each time, of at least 128 random bits.
 * @throws {CanonicalError} if the payload itself has such a member.
 */
export function redact(
  payload: Payload,
  choose: (path: Path, value: JsonValue) => boolean,
  salt: () => string,
): Redacted {
  if (isReserved(payload))
    throw new CanonicalError(
      '$',
      `a member ${DIGESTS} or ${ELEMENT}, which stand for digests here`,
    );
  const disclosures: string[] = [];
  const isTaken = (path: Path, value: JsonValue): boolean =>
    isReserved(value) || isTooDeep(path, value) || choose(path, value);
  const takeOut = (disclosure: Disclosure): string => {
    const text = encodeDisclosure(disclosure);
    disclosures.push(text);
    return disclosureDigest(text);
  };
  const element = (value: JsonValue, path: Path): JsonValue =>
    isTaken(path, value) ? { [ELEMENT]: takeOut({ salt: salt(), value }) } : rest(value, path);
  function rest(value: JsonValue, path: Path): JsonValue {
    if (isJsonArray(value)) return value.map((one, i) => element(one, [...path, i]));
    if (!isJsonObject(value)) return value;
    const digests: string[] = [];
    const kept: [string, JsonValue][] = [];
    for (const [name, member] of Object.entries(value)) {
      const at = [...path, name];
      if (isTaken(at, member)) digests.push(takeOut({ salt: salt(), name, value: member }));
      else kept.push([name, rest(member, at)]);
    }
    return withDigests(kept, digests);
  }
  // A container stays one.
  return { payload: rest(payload, []) as Payload, disclosures };
}

/** A value that was taken out, or what is known of it. */
export interface Commitment {
  readonly digest: string;
  /** Where it was; for one that wasn't put back, what it was taken out of. */
  readonly path: Path;
  /** `unfit`: its disclosure can't be put back there, as one of a member into an array. */
  readonly state: 'disclosed' | 'withheld' | 'unfit';
}

/** A payload as far as it could be put together again. */
export interface Revealed {
  readonly payload: Payload;
  readonly commitments: readonly Commitment[];
}

/** Puts back what `open` knows the disclosure of; the digests of the rest stay where they are. */
export function reveal(
  payload: Payload,
  open: (digest: string) => Disclosure | undefined,
): Revealed {
  const commitments: Commitment[] = [];
  const told = (digest: string, path: Path, state: Commitment['state']): void => {
    commitments.push({ digest, path, state });
  };
  function element(value: JsonValue, path: Path): JsonValue {
    const digest = isJsonObject(value) ? digestOf(value) : undefined;
    if (digest === undefined) return whole(value, path);
    const found = open(digest);
    const isFit = found !== undefined && found.name === undefined;
    told(digest, path, isFit ? 'disclosed' : found === undefined ? 'withheld' : 'unfit');
    return isFit ? found.value : value;
  }
  function whole(value: JsonValue, path: Path): JsonValue {
    // Nothing of ours is deeper, and a hostile file must not overflow the stack.
    if (path.length > MAX_DEPTH) return value;
    if (isJsonArray(value)) return value.map((one, i) => element(one, [...path, i]));
    if (!isJsonObject(value)) return value;
    const digests = digestsOf(value);
    const members = new Map(Object.entries(value));
    if (digests.length > 0) members.delete(DIGESTS);
    const kept = [...members].map(([name, one]): [string, JsonValue] => [
      name,
      whole(one, [...path, name]),
    ]);
    const left: string[] = [];
    for (const digest of digests) {
      const found = open(digest);
      const isFit = found?.name !== undefined && !members.has(found.name);
      if (isFit) {
        members.set(found.name, found.value);
        kept.push([found.name, found.value]);
        told(digest, [...path, found.name], 'disclosed');
      } else {
        left.push(digest);
        told(digest, path, found === undefined ? 'withheld' : 'unfit');
      }
    }
    return withDigests(kept, left);
  }
  // A container stays one.
  return { payload: whole(payload, []) as Payload, commitments };
}

/**
 * Takes out of a payload what `recorded` has the digests of, as far as it is the same: a payload that says what
 * a record said becomes the record's own.
 */
export function redactAsIn(
  payload: JsonValue,
  recorded: JsonValue | undefined,
  open: (digest: string) => Disclosure | undefined,
): JsonValue {
  if (payload instanceof Verbatim) return redactText(payload, recorded, open);
  if (isJsonArray(payload) && isJsonArray(recorded)) {
    return payload.map((value, i) => {
      const there = recorded[i];
      const digest = isJsonObject(there) ? digestOf(there) : undefined;
      if (there === undefined || digest === undefined) return redactAsIn(value, there, open);
      return isSame(value, open(digest)?.value) ? there : value;
    });
  }
  if (!isJsonObject(payload) || !isJsonObject(recorded)) return payload;
  const members = new Map(Object.entries(payload));
  const digests = digestsOf(recorded).filter((digest) => {
    const { name = '', value } = open(digest) ?? {};
    return isSame(members.get(name), value) && members.delete(name);
  });
  const kept = [...members].map(([name, value]): [string, JsonValue] => [
    name,
    redactAsIn(value, Object.hasOwn(recorded, name) ? recorded[name] : undefined, open),
  ]);
  return withDigests(kept, digests);
}

/** JSON text may stand for an array or an object. */
function redactText(
  payload: Verbatim,
  recorded: JsonValue | undefined,
  open: (digest: string) => Disclosure | undefined,
): JsonValue {
  const parsed = /^[[{]/.test(payload.text) ? parseJson(payload.text) : null;
  return parsed?.ok === true ? redactAsIn(parsed.value, recorded, open) : payload;
}

/** Sorted, so that their order says nothing (RFC 9901 §4.2.4.1). */
function withDigests(members: [string, JsonValue][], digests: readonly string[]): JsonObject {
  const sorted = digests.toSorted();
  return Object.fromEntries(sorted.length === 0 ? members : [...members, [DIGESTS, sorted]]);
}

function isReserved(value: JsonValue | Payload): boolean {
  return isJsonObject(value) && (Object.hasOwn(value, DIGESTS) || Object.hasOwn(value, ELEMENT));
}

/** Digests nest one or two levels deeper than what they stand for. */
function isTooDeep(path: Path, value: JsonValue): boolean {
  return path.length > MAX_DEPTH - 4 && (isJsonArray(value) || isJsonObject(value));
}

function isSame(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  return canonicalJson(a, Infinity) === canonicalJson(b, Infinity);
}
