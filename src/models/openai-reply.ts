/**
 * OpenAI Chat Completions answers, streamed or whole, as compatible servers really send them.
 *
 * @module
 */
import { type Delta, type ReplyCall, type ReplyStop } from '../run/model.ts';
import { tokenCount, usageOf, type Usage } from '../run/usage.ts';
import { isJsonObject, type JsonValue } from '../transcript/index.ts';
import { deliver, type Collector } from './exchange.ts';
import { CallGatherer } from './openai-calls.ts';
import { member, members, number, outputParts, text, textOfParts } from './wire.ts';

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
  const reasoning = count('completion_tokens_details', 'reasoning_tokens');
  return usageOf({
    ...inputParts(
      prompt,
      count('prompt_tokens_details', 'cached_tokens'),
      count('prompt_tokens_details', 'cache_write_tokens'),
    ),
    ...(reasoningApart(prompt, completion, reasoning, count('total_tokens')) ??
      outputParts(completion, reasoning)),
  });
}

type Count = number | null;

function inputParts(prompt: Count, cacheRead: Count, cacheWrite: Count): Partial<Usage> {
  if (prompt === null) return { cacheRead, cacheWrite };
  const input = prompt - (cacheRead ?? 0) - (cacheWrite ?? 0);
  return input >= 0 ? { input, cacheRead, cacheWrite } : {};
}

/** Output and reasoning where the total shows that `completion_tokens` leaves reasoning out. */
function reasoningApart(
  prompt: Count,
  completion: Count,
  reasoning: Count,
  total: Count,
): Partial<Usage> | null {
  if (prompt === null || completion === null || total === null) return null;
  const beyond = total - prompt - completion;
  const isReasoning = beyond > 0 && (reasoning === null || reasoning === beyond);
  return isReasoning ? { output: completion, reasoning: beyond } : null;
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
