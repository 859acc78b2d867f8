/**
 * One record in readable lines. Payloads of other shapes than the loop's are shown as JSON.
 *
 * @module
 */
import {
  canonicalJson,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type TranscriptRecord,
} from '../transcript/index.ts';
import { type Style } from './io.ts';
import { stopWords } from './outcome.ts';
import { beginning, count, harmless, number, oneLine } from './words.ts';

/** How records are shown. */
export interface View {
  /** Which turn of the model this is, or belongs to. */
  readonly turn: number;
  readonly full: boolean;
  readonly style: Style;
}

/** Unless all is asked for, so much of a value is shown. */
const CUT_AT = 600;

/** The lines of a record. */
export function recordLines(record: TranscriptRecord, view: View): readonly string[] {
  const { seq, kind, payload } = record;
  const title = kind === 'assistant' ? `${kind} (turn ${number(view.turn)})` : oneLine(kind);
  const heading = view.style('strong', `#${seq} ${title}`);
  if (!isJsonObject(payload)) return [heading, ...block(payload, view)];
  const { at } = payload;
  const time = typeof at === 'string' && at !== '' ? view.style('quiet', `  ${oneLine(at)}`) : '';
  const body = PAYLOADS.get(kind)?.(payload, view) ?? block(payload, view);
  return [heading + time, ...body];
}

/** Null for a payload of another shape. */
type PayloadLines = (payload: JsonObject, view: View) => readonly string[] | null;

const PAYLOADS: ReadonlyMap<string, PayloadLines> = new Map([
  ['user', headLines],
  ['assistant', turnLines],
  ['tool', resultLines],
  ['final', finalLines],
]);

function headLines({ content, run }: JsonObject, view: View): readonly string[] | null {
  if (typeof content !== 'string' || !isJsonObject(run)) return null;
  const { model, budget, system, ...settings } = run;
  return [
    ...field('task', content, view),
    ...field('model', model, view),
    ...field('budget', members(budget), view),
    ...field('system', system, view),
    ...field('settings', members(settings), view),
  ];
}

function turnLines(payload: JsonObject, view: View): readonly string[] | null {
  const { content, tool_calls: calls, usage, stop, provider, failed_attempts: failed } = payload;
  if (typeof content !== 'string' || !isJsonArray(calls)) return null;
  const counted = isJsonObject(usage)
    ? Object.fromEntries(Object.entries(usage).filter(([, tokens]) => tokens !== null))
    : 'unknown';
  return [
    ...(content === '' ? [] : block(content, view)),
    ...calls.flatMap((call) => callLines(call, view)),
    ...field('failed attempts', failed, view),
    ...field('stop', stop === 'end' ? undefined : stop, view),
    ...field('provider', provider, view),
    ...field('usage', members(counted), view),
  ];
}

function callLines(call: JsonValue, view: View): readonly string[] {
  if (!isJsonObject(call) || typeof call['name'] !== 'string') return block(call, view);
  const { name, id, raw, arguments: args } = call;
  const { text, more } = shorten(typeof raw === 'string' ? raw : json(args), view);
  return [`  → ${view.style('strong', oneLine(name))} ${oneLine(text)}${more}${tag(id, view)}`];
}

function resultLines(payload: JsonObject, view: View): readonly string[] | null {
  const { call, name, ok, value, error, failure, note, permit } = payload;
  if (typeof name !== 'string' || typeof ok !== 'boolean') return null;
  const kind = typeof failure === 'string' ? ` (${oneLine(failure)})` : '';
  const verdict = ok ? view.style('good', 'ok') : view.style('bad', `failed${kind}`);
  return [
    `  ${view.style('strong', oneLine(name))} ${verdict}${tag(call, view)}`,
    ...block((ok ? value : error) ?? '', view),
    ...field('note', note, view),
    ...field('permission', isJsonObject(permit) ? permitWords(permit) : undefined, view),
  ];
}

function finalLines(payload: JsonObject, view: View): readonly string[] | null {
  const { reason, content, check, budget, error, at: _at, failed_attempts: _f, ...totals } = payload;
  if (typeof reason !== 'string') return null;
  const why = stopWords(reason);
  return [
    ...field('stopped', why === undefined ? reason : `${why} (${reason})`, view),
    ...field('budget', members(budget), view),
    ...field('error', error, view),
    ...field('claimed', content, view),
    ...field('verified', checkWords(check), view),
    ...field('totals', members(totals), view),
  ];
}

function checkWords(check: JsonValue | undefined): JsonValue | undefined {
  if (check === null) return 'not checked';
  if (!isJsonObject(check)) return check;
  return (check['ok'] === true ? 'yes' : 'no') + after(check['detail']);
}

function permitWords({ decision, reason, asked }: JsonObject): string {
  const who = asked === true ? 'a person was asked' : 'by policy';
  return `${textOf(decision)}, ${who}${after(reason)}`;
}

function after(detail: JsonValue | undefined): string {
  return typeof detail === 'string' && detail !== '' ? `: ${detail}` : '';
}

function tag(id: JsonValue | undefined, view: View): string {
  return typeof id === 'string' ? view.style('quiet', `  [${oneLine(id)}]`) : '';
}

/** `steps 50, tokens 1000`; what isn't an object stays what it is. */
function members(value: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(value)) return value;
  return Object.entries(value)
    .map(([name, member]) => `${name} ${textOf(member)}`)
    .join(', ');
}

/** `  name  value`, with further lines below the value; nothing for what isn't there. */
function field(name: string, value: JsonValue | undefined, view: View): readonly string[] {
  if (value === undefined || value === '') return [];
  const [first = '', ...more] = block(value, view);
  const label = view.style('quiet', name.padEnd(9));
  return [`  ${label} ${first.trimStart()}`, ...more.map((line) => `${' '.repeat(10)}${line}`)];
}

/** A value in indented lines. */
function block(value: JsonValue, view: View): readonly string[] {
  const { text, more } = shorten(textOf(value), view);
  return `${harmless(text)}${more}`.split('\n').map((line) => `  ${line}`);
}

function shorten(content: string, view: View): { text: string; more: string } {
  const text = view.full ? content : beginning(content, CUT_AT);
  const left = content.length - text.length;
  const more = `… (${count(left, 'more character')}; --full shows them)`;
  return { text, more: left === 0 ? '' : view.style('quiet', more) };
}

/** A string as it is, anything else as JSON. */
function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : json(value);
}

function json(value: JsonValue | undefined): string {
  return value === undefined ? '' : canonicalJson(value, Infinity);
}
