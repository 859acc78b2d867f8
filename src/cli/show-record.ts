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
import { harmless, oneLine } from './harmless.ts';
import { stopWords } from './outcome-words.ts';
import { type Style } from './style.ts';
import { beginning, count, number } from './words.ts';

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
  const body = isJsonObject(payload) ? known(kind, payload, view) : null;
  const at = isJsonObject(payload) && typeof payload['at'] === 'string' ? payload['at'] : '';
  const title = kind === 'assistant' ? `${kind} (turn ${number(view.turn)})` : oneLine(kind);
  return [
    `${view.style('strong', `#${seq} ${title}`)}${at === '' ? '' : view.style('quiet', `  ${oneLine(at)}`)}`,
    ...(body ?? block(canonicalJson(payload, Infinity), view)),
  ];
}

function known(kind: string, payload: JsonObject, view: View): readonly string[] | null {
  switch (kind) {
    case 'user':
      return headLines(payload, view);
    case 'assistant':
      return turnLines(payload, view);
    case 'tool':
      return resultLines(payload, view);
    case 'final':
      return finalLines(payload, view);
    default:
      return null;
  }
}

function headLines({ content, run }: JsonObject, view: View): readonly string[] | null {
  if (typeof content !== 'string' || !isJsonObject(run)) return null;
  const { model, budget, system } = run;
  return [
    ...field('task', content, view),
    ...field('model', model, view),
    ...(isJsonObject(budget) ? field('budget', members(budget), view) : []),
    ...field('system', system, view),
    ...field('settings', members(run, ['model', 'budget', 'system']), view),
  ];
}

function turnLines(payload: JsonObject, view: View): readonly string[] | null {
  const { content, tool_calls: calls, usage, stop, failed_attempts: attempts } = payload;
  if (typeof content !== 'string' || !isJsonArray(calls)) return null;
  return [
    ...(content === '' ? [] : block(content, view)),
    ...calls.flatMap((call) => callLines(call, view)),
    ...(isJsonArray(attempts) ? field('failed attempts', attempts, view) : []),
    ...(stop === undefined || stop === 'end' ? [] : field('stop', stop, view)),
    ...(payload['provider'] === undefined ? [] : field('provider', payload['provider'], view)),
    ...field('usage', isJsonObject(usage) ? usageWords(usage) : 'unknown', view),
  ];
}

function callLines(call: JsonValue, view: View): readonly string[] {
  if (!isJsonObject(call) || typeof call['name'] !== 'string') {
    return block(canonicalJson(call, Infinity), view);
  }
  const { name, id, raw } = call;
  const args = typeof raw === 'string' ? raw : json(call['arguments']);
  const tag = typeof id === 'string' ? view.style('quiet', `  [${oneLine(id)}]`) : '';
  const shown = shorten(args, view);
  return [`  → ${view.style('strong', oneLine(name))} ${oneLine(shown.text)}${shown.more}${tag}`];
}

function resultLines(payload: JsonObject, view: View): readonly string[] | null {
  const { call, name, ok, value, error, failure, note, permit } = payload;
  if (typeof name !== 'string' || typeof ok !== 'boolean') return null;
  const kind = typeof failure === 'string' ? ` (${oneLine(failure)})` : '';
  const verdict = ok ? view.style('good', 'ok') : view.style('bad', `failed${kind}`);
  const tag = typeof call === 'string' ? view.style('quiet', `  [${oneLine(call)}]`) : '';
  return [
    `  ${view.style('strong', oneLine(name))} ${verdict}${tag}`,
    ...block(ok ? textOf(value) : textOf(error), view),
    ...field('note', note, view),
    ...(isJsonObject(permit) ? field('permission', permitWords(permit), view) : []),
  ];
}

function finalLines(payload: JsonObject, view: View): readonly string[] | null {
  const { reason, content, check, budget, error } = payload;
  if (typeof reason !== 'string') return null;
  const rest = ['reason', 'content', 'check', 'budget', 'error', 'at', 'failed_attempts'];
  const why = stopWords(reason);
  return [
    ...field('stopped', why === undefined ? reason : `${why} (${reason})`, view),
    ...field('budget', isJsonObject(budget) ? members(budget) : budget, view),
    ...field('error', error, view),
    ...field('claimed', content, view),
    ...field('verified', check === undefined ? undefined : checkWords(check), view),
    ...field('totals', members(payload, rest), view),
  ];
}

function checkWords(check: JsonValue): JsonValue {
  if (check === null) return 'not checked';
  if (!isJsonObject(check)) return check;
  const { ok, detail } = check;
  return `${ok === true ? 'yes' : 'no'}${typeof detail === 'string' && detail !== '' ? `: ${detail}` : ''}`;
}

function permitWords({ decision, reason, asked }: JsonObject): string {
  const who = asked === true ? 'a person was asked' : 'by policy';
  return `${textOf(decision)}, ${who}${typeof reason === 'string' ? `: ${reason}` : ''}`;
}

function usageWords(usage: JsonObject): string {
  const counted = Object.entries(usage).filter(([, tokens]) => tokens !== null);
  return counted.map(([name, tokens]) => `${name} ${json(tokens)}`).join(', ');
}

function members(object: JsonObject, without: readonly string[] = []): string {
  return Object.entries(object)
    .filter(([name]) => !without.includes(name))
    .map(([name, value]) => `${name} ${textOf(value)}`)
    .join(', ');
}

/** `  name  value`, with further lines below the value; nothing for what isn't there. */
function field(name: string, value: JsonValue | undefined, view: View): readonly string[] {
  if (value === undefined || value === '') return [];
  const [first = '', ...more] = block(textOf(value), view);
  const label = view.style('quiet', name.padEnd(9));
  return [`  ${label} ${first.trimStart()}`, ...more.map((line) => `  ${' '.repeat(8)}${line}`)];
}

/** Text in indented lines. */
function block(content: string, view: View): readonly string[] {
  const shown = shorten(content, view);
  const lines = harmless(shown.text).split('\n');
  return lines.map((line, i) => `  ${line}${i === lines.length - 1 ? shown.more : ''}`);
}

function shorten(content: string, view: View): { text: string; more: string } {
  const text = view.full ? content : beginning(content, CUT_AT);
  const left = content.length - text.length;
  if (left === 0) return { text, more: '' };
  const more = `… (${count(left, 'more character')}; --full shows them)`;
  return { text, more: view.style('quiet', more) };
}

/** A string as it is, anything else as JSON. */
function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : json(value);
}

function json(value: JsonValue | undefined): string {
  return value === undefined ? '' : canonicalJson(value, Infinity);
}
