/**
 * OpenAI Chat Completions answers, streamed or whole, as compatible servers really send them.
 *
 * @module
 */
import { type Delta, type ReplyCall, type ReplyStop } from '../run/model.ts';
import { tokenCount, usageOf, type Usage } from '../run/usage.ts';
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from '../transcript/index.ts';
import { deliver, type Collector } from './exchange.ts';
import { identifier, member, members, number, text, textOfParts } from './wire.ts';

/**
 * Five disjoint counters from OpenAI's, where `prompt_tokens` includes cached tokens and
 * `completion_tokens` includes reasoning. A part that isn't reported stays unknown and its total counts
 * whole; a part larger than its total makes both unknown. Some servers (xAI, Gemini) leave reasoning
 * out of `completion_tokens`; then `total_tokens` shows it.
 */
export function openaiUsage(usage: JsonValue | undefined): Usage | null {
  const count = (...path: string[]): number | null => tokenCount(number(member(usage, ...path)));
  const prompt = count('prompt_tokens');
  const completion = count('completion_tokens');
  const cacheRead = count('prompt_tokens_details', 'cached_tokens');
  const cacheWrite = count('prompt_tokens_details', 'cache_write_tokens');
  const reasoning = count('completion_tokens_details', 'reasoning_tokens');
  const input = prompt === null ? null : prompt - (cacheRead ?? 0) - (cacheWrite ?? 0);
  const fits = input === null || input >= 0;
  const beyond = (count('total_tokens') ?? 0) - (prompt ?? 0) - (completion ?? 0);
  const isApart = beyond > 0 && prompt !== null && completion !== null;
  const output =
    isApart && (reasoning ?? beyond) === beyond
      ? { output: completion, reasoning: beyond }
      : partOf(completion, reasoning);
  return usageOf({
    input,
    cacheRead: fits ? cacheRead : null,
    cacheWrite: fits ? cacheWrite : null,
    ...output,
  });
}

/** Output without the reasoning that it includes; both unknown if that can't be. */
export function partOf(
  total: number | null,
  reasoning: number | null,
): { readonly output: number | null; readonly reasoning: number | null } {
  if (total === null || reasoning === null) return { output: total, reasoning };
  return reasoning <= total
    ? { output: total - reasoning, reasoning }
    : { output: null, reasoning: null };
}

/** A call as its deltas come in. */
interface PartialCall {
  id: string;
  name: string;
  text: string;
  /** Arguments that came parsed. */
  object: JsonObject | null;
}

/** A delta of a call, its absent parts as ''. */
interface CallDelta {
  readonly index: number | null;
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly object: JsonObject | null;
}

/** Tool calls from their deltas: see {@link startsAnew} for how a delta finds its call. */
export class CallGatherer {
  readonly #calls: PartialCall[] = [];
  readonly #byIndex = new Map<number, PartialCall>();

  /** Takes a delta; returns the piece of arguments text in it. */
  add(value: JsonValue): string {
    const delta = callDelta(value);
    const known = this.#find(delta);
    const call = known === undefined || startsAnew(delta, known) ? this.#begin(delta) : known;
    if (call.id === '') call.id = delta.id;
    if (call.name === '') call.name = delta.name;
    call.object = delta.object ?? call.object;
    call.text += delta.text;
    return delta.text;
  }

  /** The calls in the order in which they began. */
  calls(): readonly ReplyCall[] {
    return this.#calls.map(({ id, name, text: written, object }) => ({
      ...(id === '' ? {} : { id }),
      name,
      arguments: object ?? written,
    }));
  }

  /** By index; without one by id; without either it goes on with the last call. */
  #find({ index, id, name }: CallDelta): PartialCall | undefined {
    if (index !== null) return this.#byIndex.get(index);
    const byId = id === '' ? undefined : this.#calls.findLast((call) => call.id === id);
    if (byId !== undefined) return byId;
    const last = this.#calls.at(-1);
    // A name and an id that nobody has yet: the next call of a server that sends no indexes.
    return name !== '' && id !== '' && last?.id !== '' ? undefined : last;
  }

  #begin({ index }: CallDelta): PartialCall {
    const call: PartialCall = { id: '', name: '', text: '', object: null };
    this.#calls.push(call);
    if (index !== null) this.#byIndex.set(index, call);
    return call;
  }
}

/**
 * Whether a delta that finds a call begins another one all the same: some servers give every call index
 * 0 or none. Only a delta with a name can, as every call begins with one; a name that is merely said
 * again comes with the same id, or in the middle of the arguments.
 */
function startsAnew(delta: CallDelta, call: PartialCall): boolean {
  if (delta.name === '' || call.name === '') return false;
  if (delta.id !== '' && delta.id === call.id) return false;
  if (delta.name !== call.name) return true;
  const isWhole = call.object !== null || (call.text !== '' && parseJson(call.text).ok);
  if (delta.id !== '' && call.id !== '') return isWhole || call.text === '';
  return isWhole || (call.text !== '' && delta.text.trimStart().startsWith('{'));
}

function callDelta(value: JsonValue): CallDelta {
  const index = member(value, 'index');
  const written = member(value, 'function', 'arguments');
  return {
    index: typeof index === 'number' ? index : null,
    id: identifier(member(value, 'id')),
    name: text(member(value, 'function', 'name')),
    text: text(written),
    object: isJsonObject(written) ? written : null,
  };
}

/** Gathers a Chat Completions answer. */
export class OpenAICollector implements Collector {
  begun = false;
  ended = false;
  readonly #onDelta: (delta: Delta) => void;
  readonly #gatherer = new CallGatherer();
  #content = '';
  #refused = false;
  #finish = '';
  #hasChoice = false;
  #usage: Usage | null = null;

  constructor(onDelta: (delta: Delta) => void) {
    this.#onDelta = onDelta;
  }

  event(value: JsonValue): void {
    this.#usage = openaiUsage(member(value, 'usage')) ?? this.#usage;
    if (this.#usage !== null) this.begun = true;
    for (const choice of members(member(value, 'choices'))) {
      // We ask for one choice; a server that sends more has made them up.
      if ((member(choice, 'index') ?? 0) !== 0) continue;
      this.#hasChoice = true;
      this.#finish = text(member(choice, 'finish_reason')) || this.#finish;
      this.#message(member(choice, 'delta'), (call) => this.#gatherer.add(call));
    }
  }

  body(value: JsonValue): void {
    this.ended = true;
    this.begun = true;
    this.#usage = openaiUsage(member(value, 'usage'));
    const choice = members(member(value, 'choices'))[0];
    if (choice === undefined) return;
    this.#hasChoice = true;
    this.#finish = text(member(choice, 'finish_reason'));
    let index = 0;
    // In a whole message every entry is a call of its own.
    this.#message(member(choice, 'message'), (call) => {
      index += 1;
      return this.#gatherer.add(isJsonObject(call) ? { ...call, index } : call);
    });
  }

  end(): void {
    this.ended = true;
  }

  problem(): string | null {
    if (this.#finish === 'error') return 'the provider ended its answer with an error';
    if (!this.ended && this.#finish === '') return 'the stream ended before the answer did';
    return this.#hasChoice ? null : 'the answer has no choices';
  }

  usage(): Usage | null {
    return this.#usage;
  }

  /** The reply, once {@link problem} is null. */
  reply(): {
    readonly content: string;
    readonly toolCalls: readonly ReplyCall[];
    readonly usage: Usage | null;
    readonly stop: ReplyStop;
  } {
    return {
      content: this.#content,
      toolCalls: this.#gatherer.calls(),
      usage: this.#usage,
      stop: this.#stop(),
    };
  }

  #stop(): ReplyStop {
    if (this.#refused || this.#finish === 'content_filter') return 'refused';
    return this.#finish === 'length' ? 'length' : 'end';
  }

  /** Takes a delta, or a whole message: they have the same members. */
  #message(message: JsonValue | undefined, addCall: (call: JsonValue) => string): void {
    const reasoning =
      text(member(message, 'reasoning_content')) || text(member(message, 'reasoning'));
    this.#deliver('reasoning', reasoning);
    const refusal = text(member(message, 'refusal'));
    if (refusal !== '') this.#refused = true;
    const content = textOfParts(member(message, 'content')) + refusal;
    this.#content += content;
    this.#deliver('text', content);
    for (const call of members(member(message, 'tool_calls'))) {
      this.begun = true;
      this.#deliver('arguments', addCall(call));
    }
  }

  #deliver(kind: Delta['kind'], piece: string): void {
    if (piece !== '') this.begun = true;
    deliver(this.#onDelta, kind, piece);
  }
}
