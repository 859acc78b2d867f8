/**
 * What a run's rules take out of each of its records.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { redact, type Path, type Payload } from '../evidence/commit.ts';
import { type RedactedDraft } from '../store/redacting-store.ts';
import {
  canonicalJson,
  isJsonArray,
  isJsonObject,
  parseJson,
  type Draft,
  type JsonObject,
  type JsonValue,
} from '../transcript/index.ts';
import { holdsCommonSecret } from './common-secrets.ts';
import { KnownTexts, textOf } from './known-texts.ts';
import { ANY, parseRule, type Rule, type Step } from './redact-rules.ts';

/** 128 random bits, as RFC 9901 §9.3 has it. */
const SALT_BYTES = 16;

/** Takes out of drafts what rules choose, and whatever else holds a text that was taken out. */
export class Redactor {
  readonly #rules: readonly Rule[];
  readonly #secrets: boolean;
  readonly #known = new KnownTexts();
  readonly #salt: () => string;

  /** @throws {TypeError} if a rule can't be read. */
  constructor(
    rules: readonly string[],
    salt: () => string = () => randomBytes(SALT_BYTES).toString('base64url'),
  ) {
    this.#rules = rules.map((rule) => parseRule(rule));
    this.#secrets = this.#rules.some(({ of }) => of === 'secrets');
    this.#salt = salt;
  }

  /** Takes a value for one that was taken out before. */
  learn(value: JsonValue): void {
    this.#known.learn(value);
  }

  /** @throws {CanonicalError} if the draft can't be recorded. */
  redact(draft: Draft): RedactedDraft {
    const { kind } = draft;
    const payload = plain(draft.payload);
    const chosen = isJsonObject(payload)
      ? this.#rules.flatMap((rule) => chosenBy(rule, kind, payload))
      : [];
    for (const steps of chosen) for (const value of at(payload, steps)) this.#known.learn(value);
    const spoken = kind === 'assistant' ? this.#spelledOut(payload, chosen) : [];
    const all = [...chosen, ...spoken, ...(kind === 'tool' ? [HASH] : [])];
    const free = FREE.get(kind) ?? EVERYTHING;
    const redacted = redact(
      payload,
      (path, value) =>
        all.some((steps) => leadsTo(steps, path)) ||
        (free.some((steps) => leadsTo(steps, path)) &&
          this.#holdsSecret(textOf(value), path.at(-1))) ||
        (free.some((steps) => isBelow(steps, path)) && this.#holdsSecret(String(path.at(-1)))),
      this.#salt,
    );
    const { disclosures } = redacted;
    return {
      draft: disclosures.length === 0 ? draft : { kind, payload: redacted.payload },
      disclosures,
    };
  }

  /** @param step the name of the member that holds it, or its place in an array. */
  #holdsSecret(text: string | undefined, step?: string | number): boolean {
    if (text === undefined) return false;
    const name = typeof step === 'string' ? step : undefined;
    return this.#known.isIn(text) || (this.#secrets && holdsCommonSecret(text, name));
  }

  /**
   * Where arguments are taken out of a turn, so are the other forms that they have in it: the model's own text, in
   * which they may be spelled in any way, and what the provider gave.
   */
  #spelledOut(
    payload: JsonValue,
    chosen: readonly (readonly Step[])[],
  ): readonly (readonly Step[])[] {
    const calls = isJsonObject(payload) ? payload['tool_calls'] : undefined;
    if (!isJsonArray(calls)) return [];
    const found = calls.flatMap((call, i) => {
      const start = ['tool_calls', String(i), 'arguments'];
      const isChosen = chosen.some((steps) => start.every((step, k) => steps[k] === step));
      const args = isJsonObject(call) ? call['arguments'] : undefined;
      return isChosen || (args !== undefined && this.#tellsWithin(args))
        ? [['tool_calls', String(i), 'raw']]
        : [];
    });
    const isSaid = chosen.some(([first]) => first === 'content');
    return found.length > 0 || isSaid ? [...found, ['provider']] : [];
  }

  /** Whether a text in a value, or the name of a member, holds what is to be kept out. */
  #tellsWithin(value: JsonValue, step?: string): boolean {
    if (!isJsonArray(value) && !isJsonObject(value)) return this.#holdsSecret(textOf(value), step);
    return Object.entries(value).some(
      ([name, member]) => this.#holdsSecret(name) || this.#tellsWithin(member, name),
    );
  }
}

/** Whoever can guess a result that was too large to keep could try it out on its hash, which has no salt. */
const HASH: readonly Step[] = ['result_sha256'];

/** Any number of further steps. */
const BELOW: unique symbol = Symbol('**');
type FreeStep = Step | typeof BELOW;

/** Where records of the loop hold what models, tools and people say. All the rest is the loop's own. */
const FREE: ReadonlyMap<string, readonly (readonly FreeStep[])[]> = new Map([
  ['user', [['content'], ['run', 'system']]],
  ['resumed', [['run', 'system']]],
  ['recovered', []],
  [
    'assistant',
    [
      ['content'],
      ['tool_calls', ANY, 'arguments', BELOW],
      ['tool_calls', ANY, 'raw'],
      ['provider', BELOW],
      ['failed_attempts', ANY, 'error'],
    ],
  ],
  [
    'tool',
    [
      ['value', BELOW],
      ['error'],
      ['given', BELOW],
      ['note'],
      ['permit', 'reason'],
      ['permit', 'problem'],
    ],
  ],
  ['final', [['content'], ['error'], ['check', 'detail'], ['failed_attempts', ANY, 'error']]],
]);
/** In records of other kinds anything may be said anywhere. */
const EVERYTHING: readonly (readonly FreeStep[])[] = [[BELOW]];

/** Whether steps lead to what a path leads to, or with `BELOW` to something that holds it. */
function leadsTo(steps: readonly FreeStep[], path: Path): boolean {
  if (steps.at(-1) === BELOW) return leadsTo(steps.slice(0, -1), path.slice(0, steps.length - 1));
  return (
    steps.length === path.length &&
    steps.every((step, i) => step === ANY || step === String(path[i]))
  );
}

/** Whether a path leads to something within what is free, where even names are not the loop's. */
function isBelow(steps: readonly FreeStep[], path: Path): boolean {
  return steps.at(-1) === BELOW && path.length >= steps.length && leadsTo(steps, path);
}

/** The values that steps lead to. */
function at(value: JsonValue, [step, ...more]: readonly Step[]): readonly JsonValue[] {
  if (step === undefined) return [value];
  if (!isJsonArray(value) && !isJsonObject(value)) return [];
  return Object.entries(value)
    .filter(([name]) => step === ANY || step === name)
    .flatMap(([, member]) => at(member, more));
}

/** Where the values are that have one place in the records of some kinds. */
const PLACES: Readonly<
  Record<'task' | 'system' | 'answer', readonly (readonly [string, Step[]])[]>
> = {
  task: [['user', ['content']]],
  system: [
    ['user', ['run', 'system']],
    ['resumed', ['run', 'system']],
  ],
  answer: [
    ['assistant', ['content']],
    ['final', ['content']],
  ],
};

/** Where a rule's values are in a payload. */
function chosenBy(rule: Rule, kind: string, payload: JsonObject): readonly (readonly Step[])[] {
  if (rule.of === 'secrets') return [];
  if (rule.of === 'arguments') return argumentsIn(rule, kind, payload);
  if (rule.of === 'result')
    return kind === 'tool' && isFor(rule.tool, payload) ? resultIn(rule) : [];
  return PLACES[rule.of].flatMap(([where, steps]) => (where === kind ? [steps] : []));
}

type ToolRule = Extract<Rule, { readonly tool: Step }>;

function argumentsIn(
  { tool, path }: ToolRule,
  kind: string,
  payload: JsonObject,
): readonly (readonly Step[])[] {
  // An error may quote a part of what the tool got.
  if (kind === 'tool') return isFor(tool, payload) ? [['given', ...path], ['error']] : [];
  const { tool_calls: calls } = payload;
  if (kind !== 'assistant' || !isJsonArray(calls)) return [];
  return calls.flatMap((call, i) =>
    isJsonObject(call) && isFor(tool, call)
      ? [['tool_calls', String(i), 'arguments', ...path]]
      : [],
  );
}

function resultIn({ path }: ToolRule): readonly (readonly Step[])[] {
  return path.length === 0 ? [['value'], ['error']] : [['value', ...path]];
}

function isFor(tool: Step, { name }: JsonObject): boolean {
  return tool === ANY || tool === name;
}

/** As it will be read back: a draft may hold JSON text in place of a value. */
function plain(payload: Payload): Payload {
  const parsed = parseJson(canonicalJson(payload));
  // What was just written is JSON, and a container stays one.
  return parsed.ok ? (parsed.value as Payload) : payload;
}
