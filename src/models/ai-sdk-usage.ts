/**
 * Usage as AI SDK models report it, made our five disjoint counters. A counter that isn't a count is
 * unknown (null), and no unknown becomes 0.
 *
 * @module
 */
import { tokenCount, usageOf, type Usage } from '../run/usage.ts';
import { membersOf } from './ai-sdk-types.ts';

/**
 * AI SDK: flat totals in v2, totals with their parts in v3 and v4.
 *
 * @param provider whose totals they are: v2 left it to each provider what its totals include.
 */
export function aiSdkUsage(raw: unknown, provider: string): Usage | null {
  const usage = membersOf(raw);
  const { inputTokens, outputTokens } = usage;
  if (isObject(inputTokens) || isObject(outputTokens)) {
    return partedUsage(membersOf(inputTokens), membersOf(outputTokens));
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

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
