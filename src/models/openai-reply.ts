/**
 * OpenAI Chat Completions answers, streamed or whole, as compatible servers really send them.
 *
 * @module
 */
import { type Delta, type ModelReply, type ReplyCall, type ReplyStop } from '../run/model.ts';
import { type Usage } from '../run/usage.ts';
import {
  isJsonArray,
  isJsonObject,
  parseJson,
  type JsonObject,
  type JsonValue,
} from '../transcript/index.ts';
import { deliver, type Collector } from './exchange.ts';
import { openaiUsage } from './usage.ts';
import { identifier, member, members, text, textOfParts, wellFormed } from './wire.ts';

/** Gathers a Chat Completions answer. */
export class OpenAICollector implements Collector {
  readonly #onDelta: (delta: Delta) => void;
  readonly #calls = new CallGatherer();
  #content = '';
  #reasoning = '';
  #refused = false;
  #finish = '';
  #hasMessage = false;
  #oddContent = false;
  #usage: Usage | null = null;

  constructor(onDelta: (delta: Delta) => void) {
    this.#onDelta = onDelta;
  }

  event(value: JsonValue): boolean {
    this.#usage = openaiUsage(member(value, 'usage')) ?? this.#usage;
    for (const choice of members(member(value, 'choices'))) {
      // We ask for one choice; a server that sends more has made them up.
      if ((member(choice, 'index') ?? 0) !== 0) continue;
      this.#finish = text(member(choice, 'finish_reason')) || this.#finish;
      // A whole message has a delta's members.
      this.#message(member(choice, 'delta') ?? member(choice, 'message'));
    }
    // `[DONE]` ends a stream, not an event.
    return false;
  }

  body(value: JsonValue): void {
    this.#calls.areWhole = true;
    this.event(value);
  }

  usage(): Usage | null {
    return this.#usage;
  }

  problem(ended: boolean): string | null {
    if (this.#finish === 'error') return 'the provider ended its answer with an error';
    if (!ended && this.#finish === '') return 'the stream ended before the answer did';
    if (this.#oddContent) return "the answer's content is neither text nor a list of parts";
    return this.#hasMessage ? null : 'the answer has no message';
  }

  /** The reply, once {@link problem} is null. */
  reply(): ModelReply {
    return {
      content: this.#content.toWellFormed(),
      toolCalls: this.#calls.calls(),
      usage: this.#usage,
      stop: this.#stop(),
      ...(this.#reasoning === ''
        ? {}
        : { provider: wellFormed({ reasoning_content: this.#reasoning }) }),
    };
  }

  #stop(): ReplyStop {
    if (this.#refused || this.#finish === 'content_filter') return 'refused';
    return this.#finish === 'length' ? 'length' : 'end';
  }

  #message(message: JsonValue | undefined): void {
    // Azure sends choices with nothing but its filter's findings between those with deltas.
    if (!isJsonObject(message)) return;
    this.#hasMessage = true;
    const reasoning = text(member(message, 'reasoning_content') ?? member(message, 'reasoning'));
    this.#reasoning += deliver(this.#onDelta, 'reasoning', reasoning);
    const refusal = text(member(message, 'refusal'));
    this.#refused ||= refusal !== '';
    const said = member(message, 'content') ?? '';
    this.#oddContent ||= typeof said !== 'string' && !isJsonArray(said);
    const content = textOfParts(said) + refusal;
    this.#content += deliver(this.#onDelta, 'text', content);
    const calls = members(member(message, 'tool_calls'));
    for (const call of calls) deliver(this.#onDelta, 'arguments', this.#calls.add(call));
    // The form before tool calls: one function, without an index or an id.
    const old = member(message, 'function_call') ?? null;
    if (old === null || calls.length > 0) return;
    deliver(this.#onDelta, 'arguments', this.#calls.add({ index: 0, function: old }));
  }
}

/** A call as its deltas come in; what hasn't come is ''. */
interface PartialCall {
  id: string;
  name: string;
  text: string;
  /** Arguments that came parsed. */
  object: JsonObject | null;
}

/** Tool calls from their deltas, however a server labels them. */
export class CallGatherer {
  /** Every delta is a call of its own, as in a message that isn't streamed. */
  areWhole = false;
  readonly #calls: PartialCall[] = [];
  readonly #byIndex = new Map<JsonValue, PartialCall>();

  /** Takes a delta; returns the piece of arguments text in it. */
  add(value: JsonValue): string {
    const written = member(value, 'function', 'arguments');
    const delta: PartialCall = {
      id: identifier(member(value, 'id')),
      name: text(member(value, 'function', 'name')),
      text: text(written),
      object: isJsonObject(written) ? written : null,
    };
    const index = member(value, 'index') ?? null;
    const known = this.#find(index, delta);
    if (known === undefined || startsAnew(delta, known)) {
      this.#calls.push(delta);
      if (index !== null) this.#byIndex.set(index, delta);
      return delta.text;
    }
    known.id ||= delta.id;
    known.name ||= delta.name;
    known.object = delta.object ?? known.object;
    known.text += delta.text;
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
  #find(index: JsonValue, { id, name }: PartialCall): PartialCall | undefined {
    if (this.areWhole) return undefined;
    if (index !== null) return this.#byIndex.get(index);
    const byId = id === '' ? undefined : this.#calls.findLast((call) => call.id === id);
    if (byId !== undefined) return byId;
    const last = this.#calls.at(-1);
    // A name and an id that nobody has yet: the next call of a server that sends no indexes.
    return name !== '' && id !== '' && last?.id !== '' ? undefined : last;
  }
}

/**
 * Whether a delta that finds a call begins another one all the same: some servers give every call index
 * 0 or none. Only a delta with a name can, as every call begins with one; a name that is merely said
 * again comes with the same id, or before the arguments are whole.
 */
function startsAnew(delta: PartialCall, call: PartialCall): boolean {
  if (delta.name === '' || call.name === '') return false;
  if (delta.id !== '' && delta.id === call.id) return false;
  if (delta.name !== call.name) return true;
  // Most pieces begin otherwise, and all before them needn't be read again for each.
  const mayBegin = /^\s*(?:\{|$)/.test(delta.text);
  const isWhole = call.object !== null || (mayBegin && parseJson(call.text).ok);
  return isWhole || (call.text === '' && delta.id !== '' && call.id !== '');
}
