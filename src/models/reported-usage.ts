/**
 * Usage as others spell it, made our five disjoint counters.
 *
 * Each reader takes what came off the wire and trusts none of it: a counter that isn't a count is
 * unknown (null), and no unknown becomes 0.
 *
 * @module
 */
import { tokenCount, usageOf, type Usage } from '../run/usage.ts';

/** OpenAI Chat Completions: `prompt_tokens` includes cached ones, `completion_tokens` reasoning. */
export function openaiChatUsage(raw: unknown): Usage | null {
  const usage = members(raw);
  const prompt = members(usage['prompt_tokens_details']);
  const completion = members(usage['completion_tokens_details']);
  return disjoint({
    inputTotal: usage['prompt_tokens'],
    cacheRead: prompt['cached_tokens'],
    cacheWrite: prompt['cache_write_tokens'],
    outputTotal: usage['completion_tokens'],
    reasoning: completion['reasoning_tokens'],
  });
}

/** OpenAI Responses: other names than Chat Completions, the same inclusions. */
export function openaiResponsesUsage(raw: unknown): Usage | null {
  const usage = members(raw);
  const input = members(usage['input_tokens_details']);
  return disjoint({
    inputTotal: usage['input_tokens'],
    cacheRead: input['cached_tokens'],
    cacheWrite: input['cache_write_tokens'],
    outputTotal: usage['output_tokens'],
    reasoning: members(usage['output_tokens_details'])['reasoning_tokens'],
  });
}

/** Anthropic Messages: `input_tokens` excludes both cache counters; `output_tokens` includes thinking. */
export function anthropicUsage(raw: unknown): Usage | null {
  const usage = members(raw);
  const reasoning = tokenCount(members(usage['output_tokens_details'])['thinking_tokens']);
  return usageOf({
    input: usage['input_tokens'],
    cacheRead: usage['cache_read_input_tokens'],
    cacheWrite: usage['cache_creation_input_tokens'],
    output: without(tokenCount(usage['output_tokens']), reasoning),
    reasoning,
  });
}

/**
 * AI SDK: flat totals in v2, totals with their parts in v3 and v4.
 *
 * @param provider whose totals they are: v2 left it to each provider what its totals include.
 */
export function aiSdkUsage(raw: unknown, provider: string): Usage | null {
  const usage = members(raw);
  const { inputTokens, outputTokens } = usage;
  if (isObject(inputTokens) || isObject(outputTokens)) {
    return partedUsage(members(inputTokens), members(outputTokens));
  }
  return flatUsage(usage, provider);
}

function partedUsage(
  input: Readonly<Record<string, unknown>>,
  output: Readonly<Record<string, unknown>>,
): Usage | null {
  const text = tokenCount(output['text']);
  const reasoning = tokenCount(output['reasoning']);
  const fromTotals = disjoint({
    inputTotal: input['total'],
    cacheRead: input['cacheRead'],
    cacheWrite: input['cacheWrite'],
    outputTotal: output['total'],
    reasoning: reasoning ?? remainder(tokenCount(output['total']), text),
  });
  return usageOf({
    ...fromTotals,
    input: tokenCount(input['noCache']) ?? fromTotals?.input,
    output: text ?? fromTotals?.output,
  });
}

/**
 * In v2 Anthropic and Bedrock report input without cached tokens, all others with them; Google reports
 * output without reasoning, all others with it, which shows in the total.
 */
function flatUsage(usage: Readonly<Record<string, unknown>>, provider: string): Usage | null {
  const [input, output, total] = [
    tokenCount(usage['inputTokens']),
    tokenCount(usage['outputTokens']),
    tokenCount(usage['totalTokens']),
  ];
  const cacheRead = tokenCount(usage['cachedInputTokens']);
  const reasoning = tokenCount(usage['reasoningTokens']);
  const inputIsBare = /anthropic|bedrock/i.test(provider);
  const outputIsBare =
    total !== null && total >= (input ?? 0) + (output ?? 0) + (reasoning ?? 0) && input !== null;
  return usageOf({
    input: inputIsBare ? input : without(input, cacheRead),
    cacheRead,
    output: outputIsBare ? output : without(output, reasoning),
    reasoning,
  });
}

/** Totals and the parts that they include. */
interface Totals {
  readonly inputTotal: unknown;
  readonly cacheRead: unknown;
  readonly cacheWrite: unknown;
  readonly outputTotal: unknown;
  readonly reasoning: unknown;
}

function disjoint(totals: Totals): Usage | null {
  const cacheRead = tokenCount(totals.cacheRead);
  const cacheWrite = tokenCount(totals.cacheWrite);
  const reasoning = tokenCount(totals.reasoning);
  return usageOf({
    input: without(without(tokenCount(totals.inputTotal), cacheRead), cacheWrite),
    cacheRead,
    cacheWrite,
    output: without(tokenCount(totals.outputTotal), reasoning),
    reasoning,
  });
}

/** A total without one of its parts. A part larger than the total can't have been part of it. */
function without(total: number | null, part: number | null): number | null {
  return remainder(total, part) ?? total;
}

function remainder(total: number | null, part: number | null): number | null {
  return total !== null && part !== null && part <= total ? total - part : null;
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
