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
import { stopWords } from './report.ts';
import { beginning, count, harmless, momentWords, number, oneLine } from './words.ts';

/** How records are shown. */
export interface View {
  /** Which turn of the model this is, or belongs to; undefined where that isn't known. */
  readonly turn?: number;
  readonly full: boolean;
  readonly style: Style;
}

/** Unless all is asked for, so much of a value is shown. */
const CUT_AT = 600;

/** The lines of a record. */
export function recordLines(record: TranscriptRecord, view: View): readonly string[] {
  const { seq, kind, payload } = record;
  const isTurn = kind === 'assistant' && view.turn !== undefined;
  const title = isTurn ? `${kind} (turn ${number(view.turn)})` : oneLine(kind);
  const at = isJsonObject(payload) ? payload['at'] : undefined;
  const time = typeof at === 'string' ? view.style('quiet', `  ${momentWords(at)}`) : '';
  const known = isJsonObject(payload) ? PAYLOADS.get(kind)?.(payload, view) : undefined;
  const heading = view.style('strong', `#${seq} ${title}`) + time;
  return [heading, ...(known ?? block(canonicalJson(payload, Infinity), view))];
}

/** Null for a payload of another shape. */
type PayloadLines = (payload: JsonObject, view: View) => readonly string[] | null;

const PAYLOADS: ReadonlyMap<string, PayloadLines> = new Map([
  ['user', headLines],
  ['assistant', turnLines],
  ['tool', resultLines],
  ['final', finalLines],
  ['resumed', resumedLines],
]);

function headLines({ content, run }: JsonObject, view: View): readonly string[] | null {
  if (typeof content !== 'string' || !isJsonObject(run)) return null;
  return fields({ task: content, ...configuration(run) }, view);
}

function configuration({
  model,
  budget,
  system,
  manifest,
  tools,
  ...settings
}: JsonObject): Readonly<Record<string, JsonValue | undefined>> {
  // Their schemas are long; the hash stands for them all where there is nothing else.
  return { model, budget, system, tools: toolsText(manifest) ?? tools, settings };
}

/** A line each: `add (read_only): Adds two integers.` */
function toolsText(manifest: JsonValue | undefined): string | undefined {
  if (!isJsonArray(manifest)) return undefined;
  if (manifest.length === 0) return 'none';
  const lines = manifest.map((tool) => {
    if (!isJsonObject(tool)) return textOf(tool);
    const flags = Object.keys(tool).filter((key) => tool[key] === true);
    const marks = flags.length === 0 ? '' : ` (${flags.join(', ')})`;
    return oneLine(`${textOf(tool['name'])}${marks}: ${textOf(tool['description'])}`);
  });
  return lines.join('\n');
}

function resumedLines({ calls, run }: JsonObject, view: View): readonly string[] | null {
  if (!isJsonArray(calls)) return null;
  const open = calls.length === 0 ? 'none' : calls.map((id) => textOf(id)).join(', ');
  const now = isJsonObject(run) ? configuration(run) : {};
  return fields({ uncertain: open, ...now }, view);
}

function turnLines(payload: JsonObject, view: View): readonly string[] | null {
  const { content, tool_calls: calls, usage, stop, provider, failed_attempts: failed } = payload;
  if (typeof content !== 'string' || !isJsonArray(calls)) return null;
  const odd = stop === 'end' ? undefined : stop;
  const counted = usageText(usage);
  return [
    ...(content === '' ? [] : block(content, view)),
    ...calls.flatMap((call) => callLines(call, view)),
    ...fields({ failed: attemptsText(failed), stop: odd, provider, usage: counted }, view),
  ];
}

function callLines(call: JsonValue, view: View): readonly string[] {
  if (!isJsonObject(call) || typeof call['name'] !== 'string') return block(textOf(call), view);
  const { name, id, raw, arguments: args } = call;
  const { text, more } = shorten(textOf(typeof raw === 'string' ? raw : args), view);
  return [`  → ${view.style('strong', oneLine(name))} ${oneLine(text)}${more}${tag(id, view)}`];
}

function resultLines(payload: JsonObject, view: View): readonly string[] | null {
  const { call, name, ok, value, error, failure, note, permit, given } = payload;
  if (typeof name !== 'string' || typeof ok !== 'boolean') return null;
  const kind = typeof failure === 'string' ? ` (${oneLine(failure)})` : '';
  const verdict = ok ? view.style('good', 'ok') : view.style('bad', `failed${kind}`);
  return [
    `  ${view.style('strong', oneLine(name))} ${verdict}${tag(call, view)}`,
    ...block(textOf(ok ? value : error), view),
    ...fields({ given: textOf(given), note, permit: permitWords(permit) }, view),
  ];
}

function finalLines(payload: JsonObject, view: View): readonly string[] | null {
  const { reason, content, check, budget, error, failed_attempts: failed } = payload;
  if (typeof reason !== 'string') return null;
  const why = stopWords(reason, isJsonObject(budget) ? budget : {});
  const stopped = why === undefined ? reason : `${why} (${reason})`;
  const verified = checkWords(check);
  const totals = members(payload, ([name]) => !NO_TOTALS.has(name));
  const attempts = attemptsText(failed);
  return fields(
    { stopped, budget, error, failed: attempts, claimed: content, verified, totals },
    view,
  );
}

const NO_TOTALS: ReadonlySet<string> = new Set(
  'reason content check budget error at failed_attempts'.split(' '),
);

/** A line each: `overloaded (usage unknown)`. */
function attemptsText(attempts: JsonValue | undefined): string {
  if (!isJsonArray(attempts)) return textOf(attempts);
  const lines = attempts.map((attempt) => {
    if (!isJsonObject(attempt)) return textOf(attempt);
    const { error, usage, ...more } = attempt;
    const rest = members(more);
    const cost = usage === undefined ? 'no usage' : `usage ${usageText(usage)}`;
    return `${textOf(error)} (${cost}${rest === '' ? '' : `, ${rest}`})`;
  });
  return lines.join('\n');
}

function usageText(usage: JsonValue | undefined): string {
  if (!isJsonObject(usage)) return 'unknown';
  return members(usage, ([, tokens]) => tokens !== null) || 'unknown';
}

function checkWords(check: JsonValue | undefined): JsonValue | undefined {
  if (check === null) return 'not checked';
  if (!isJsonObject(check)) return check;
  return (check['ok'] === true ? 'yes' : 'no') + after(check['detail']);
}

function permitWords(permit: JsonValue | undefined): string | undefined {
  if (!isJsonObject(permit)) return undefined;
  const { decision, reason, asked } = permit;
  const who = asked === true ? 'a person was asked' : 'by policy';
  return `${textOf(decision)}, ${who}${after(reason)}`;
}

function after(detail: JsonValue | undefined): string {
  return typeof detail === 'string' && detail !== '' ? `: ${detail}` : '';
}

function tag(id: JsonValue | undefined, view: View): string {
  return typeof id === 'string' ? view.style('quiet', `  [${oneLine(id)}]`) : '';
}

/** A line `  name  value` each, with further lines below the value; none for what isn't there. */
function fields(
  values: Readonly<Record<string, JsonValue | undefined>>,
  view: View,
): readonly string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const text = isJsonObject(value) ? members(value) : textOf(value);
    if (text === '') return [];
    const [first = '', ...more] = block(text, view);
    const label = view.style('quiet', name.padEnd(9));
    return [`  ${label} ${first.trimStart()}`, ...more.map((line) => `${' '.repeat(10)}${line}`)];
  });
}

/** `steps 50, tokens 1000`. */
function members(
  object: JsonObject,
  wanted: (member: readonly [string, JsonValue]) => boolean = () => true,
): string {
  return Object.entries(object)
    .filter(wanted)
    .map(([name, value]) => `${name} ${textOf(value)}`)
    .join(', ');
}

/** Text in indented lines. */
function block(content: string, view: View): readonly string[] {
  const { text, more } = shorten(content, view);
  return `${harmless(text)}${more}`.split('\n').map((line) => `  ${line}`);
}

function shorten(content: string, view: View): { text: string; more: string } {
  const text = view.full ? content : beginning(content, CUT_AT);
  const left = content.length - text.length;
  const more = `… (${count(left, 'more character')}; --full shows them)`;
  return { text, more: left === 0 ? '' : view.style('quiet', more) };
}

/** A string as it is, anything else as JSON; nothing for what isn't there. */
function textOf(value: JsonValue | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : canonicalJson(value, Infinity);
}
