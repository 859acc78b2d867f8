/**
 * A record of which values were taken out, as it is shown: what is disclosed as it was, with a mark, and what isn't
 * as withheld.
 *
 * @module
 */
import { reveal, type Commitment, type Path } from '../evidence/commit.ts';
import { DIGESTS, digestOf, digestsOf } from '../evidence/disclosure.ts';
import { isRedacted, type RevealedRecord } from '../evidence/revealer.ts';
import {
  isJsonArray,
  isJsonObject,
  MAX_DEPTH,
  type JsonObject,
  type JsonValue,
  type TranscriptRecord,
} from '../transcript/index.ts';
import { recordLines, type View } from './show-record.ts';
import { count, oneLine } from './words.ts';

/** The lines of a record. */
export function committedLines(
  { record, commitments }: RevealedRecord,
  view: View,
): readonly string[] {
  const put = commitments.filter(({ state }) => state === 'disclosed');
  const left = commitments.filter(({ state }) => state !== 'disclosed');
  return [
    ...recordLines(left.length === 0 ? record : marked(record), view),
    ...(put.length === 0 ? [] : [noteLine('committed', placesOf(put, record).join(', '), view)]),
    ...(left.length === 0 ? [] : [noteLine('withheld', withheldWords(left, record), view)]),
  ];
}

/**
 * The lines of a record that stands by itself. Unless it says so itself, only the records before it tell whether its
 * writer took values out: then what has the form of a digest stays as it is, and it is said what it may be.
 */
export function loneLines(record: TranscriptRecord, view: View): readonly string[] {
  const redacted = isRedacted(record);
  const { commitments } = reveal(record.payload, () => undefined);
  if (redacted === true) return committedLines({ record, commitments }, view);
  const lines = committedLines({ record, commitments: [] }, view);
  if (redacted === false || commitments.length === 0) return lines;
  const where = placesOf(commitments, record).join(', ');
  const note = `what looks like a digest in ${where} stands for a value that was taken out, if an earlier record's run has redact`;
  return [...lines, noteLine('note', note, view)];
}

function noteLine(name: string, text: string, { style }: View): string {
  return `  ${style('quiet', name.padEnd(9))} ${oneLine(text)}`;
}

const WITHHELD = '(withheld)';

/** The text that a record of each kind of the loop has, and without which it wouldn't be known as one. */
const TEXTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['user', ['content']],
  ['assistant', ['content']],
  ['tool', ['value', 'error']],
  ['final', ['content']],
]);

/** The record with words in the place of digests. */
function marked(record: TranscriptRecord): TranscriptRecord {
  const { kind } = record;
  const payload = marksIn(record.payload, 0);
  if (!isJsonObject(payload)) return record;
  const { [WITHHELD]: _left, ...members } = payload;
  const missing = (TEXTS.get(kind) ?? []).filter((name) => payload[name] === undefined);
  const isMissing = kind === 'tool' ? missing.length === 2 : missing.length > 0;
  const texts = isMissing ? missing.map((name) => [name, WITHHELD]) : [];
  return { ...record, payload: { ...members, ...Object.fromEntries(texts) } };
}

function marksIn(value: JsonValue, depth: number): JsonValue {
  if (depth > MAX_DEPTH) return value;
  if (isJsonArray(value)) return value.map((one) => marksIn(one, depth + 1));
  if (!isJsonObject(value)) return value;
  if (digestOf(value) !== undefined) return WITHHELD;
  const left = digestsOf(value).length;
  const members = Object.entries(value)
    .filter(([name]) => left === 0 || name !== DIGESTS)
    .map(([name, member]): [string, JsonValue] => [name, marksIn(member, depth + 1)]);
  const marks: JsonObject = left === 0 ? {} : { [WITHHELD]: left };
  return { ...Object.fromEntries(members), ...marks };
}

/** `tool_calls[0].arguments.password`; each once. */
function placesOf(commitments: readonly Commitment[], record: TranscriptRecord): readonly string[] {
  return fewOf([...counted(commitments, record).keys()]);
}

/** `2 parts of tool_calls[0].arguments, 1 part of the record`. */
function withheldWords(commitments: readonly Commitment[], record: TranscriptRecord): string {
  const places = counted(commitments, record);
  return fewOf([...places].map(([place, here]) => `${count(here, 'part')} of ${place}`)).join(', ');
}

/** How many there are at each place, as it is called. */
function counted(
  commitments: readonly Commitment[],
  record: TranscriptRecord,
): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const { path } of commitments) {
    const place = placeText(path, record);
    places.set(place, (places.get(place) ?? 0) + 1);
  }
  return places;
}

/** Nobody reads a line of thousands of places. */
const MOST_PLACES = 20;

function fewOf(places: readonly string[]): readonly string[] {
  const left = places.length - MOST_PLACES;
  return left > 1 ? [...places.slice(0, MOST_PLACES), `${left} more`] : places;
}

function placeText([first, ...rest]: Path, { kind }: TranscriptRecord): string {
  if (first === undefined) return 'the record';
  // As rules call it, and as it is shown.
  const begin = kind === 'tool' && first === 'value' ? 'result' : first;
  return [begin, ...rest]
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '');
}
