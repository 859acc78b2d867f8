/**
 * The transcript format hashtape/1: canonical JSON, records, their chain, and its verification.
 *
 * Pure: no input or output, no clock, no dependency; it runs in a browser.
 *
 * @module
 */
export {
  canonicalJson,
  CanonicalError,
  compareCodePoints,
  MAX_DEPTH,
  Verbatim,
  type JsonObject,
  type JsonValue,
} from './canonical.ts';
export { type Fault, type Reason } from './judge.ts';
export { floatText, numberText } from './number.ts';
export { parseJson, type Parsed } from './parse.ts';
export {
  advance,
  EMPTY_HEAD,
  encodeRecord,
  GENESIS,
  isJsonArray,
  isJsonObject,
  MAX_LINE_BYTES,
  parseRecord,
  type Draft,
  type Head,
  type RecordLine,
  type TranscriptRecord,
} from './record.ts';
export {
  createVerifier,
  unreadable,
  verifyTranscript,
  type OnRecord,
  type Verdict,
  type Verifier,
  type VerifyOptions,
} from './verify.ts';
