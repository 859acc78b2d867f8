/**
 * Token usage as providers report it, made our five disjoint counters. A count that isn't one is
 * unknown (null), and no unknown becomes 0.
 *
 * @module
 */
import { tokenCount, USAGE_COUNTERS, usageOf, type Usage } from '../run/usage.ts';
import { Verbatim, type JsonValue } from '../transcript/index.ts';
import { member, membersOf } from './wire.ts';

/** OpenAI: `prompt_tokens` includes cached tokens, `completion_tokens` includes reasoning. */
export function openaiUsage(usage: JsonValue | undefined): Usage | null {
  return usageOf(
    apart({
      input: count(usage, 'prompt_tokens'),
      cacheRead: count(usage, 'prompt_tokens_details', 'cached_tokens'),
      cacheWrite: count(usage, 'prompt_tokens_details', 'cache_write_tokens'),
      output: count(usage, 'completion_tokens'),
      reasoning: count(usage, 'completion_tokens_details', 'reasoning_tokens'),
      total: count(usage, 'total_tokens'),
    }),
  );
}

/** Anthropic: `input_tokens` excludes both cache counters, `output_tokens` includes thinking. */
export function anthropicUsage(usage: JsonValue | undefined): Usage | null {
  const thinking = count(usage, 'output_tokens_details', 'thinking_tokens');
  const [output, reasoning] = split(count(usage, 'output_tokens'), thinking);
  return usageOf({
    input: count(usage, 'input_tokens'),
    cacheRead: count(usage, 'cache_read_input_tokens'),
    cacheWrite: count(usage, 'cache_creation_input_tokens'),
    output,
    reasoning,
  });
}

/** AI SDK: flat totals in v2, which are documented as OpenAI's; totals with their parts in v3 and v4. */
export function aiSdkUsage(raw: unknown): Usage | null {
  const usage = membersOf(raw);
  const { inputTokens, outputTokens } = usage;
  if (typeof inputTokens === 'number' || typeof outputTokens === 'number') {
    return usageOf(
      apart({
        input: tokenCount(inputTokens),
        cacheRead: tokenCount(usage['cachedInputTokens']),
        cacheWrite: null,
        output: tokenCount(outputTokens),
        reasoning: tokenCount(usage['reasoningTokens']),
        total: tokenCount(usage['totalTokens']),
      }),
    );
  }
  const [input, output] = [membersOf(inputTokens), membersOf(outputTokens)];
  const visible = tokenCount(output['text']);
  const whole = tokenCount(output['total']);
  const rest = visible === null ? null : split(whole, visible)[0];
  const parts = apart({
    input: tokenCount(input['total']),
    cacheRead: tokenCount(input['cacheRead']),
    cacheWrite: tokenCount(input['cacheWrite']),
    output: whole,
    reasoning: tokenCount(output['reasoning']) ?? rest,
    total: null,
  });
  return usageOf({
    ...parts,
    input: tokenCount(input['noCache']) ?? parts.input,
    output: visible ?? parts.output,
  });
}

/** The sum of several requests' usage; a counter that any of them leaves unknown is unknown. */
export function sumOfUsage(usages: readonly (Usage | null)[]): Usage | null {
  const sums = USAGE_COUNTERS.map((name) => {
    const counts = usages.map((usage) => usage?.[name] ?? null);
    return [name, counts.includes(null) ? null : counts.reduce<number>(add, 0)];
  });
  return usageOf(Object.fromEntries(sums));
}

type Count = number | null;

/** Counters whose input includes both caches, and whose output includes reasoning. */
interface Totals extends Usage {
  readonly total: Count;
}

/**
 * Takes the parts out of their totals. Some servers leave reasoning out of the output; then the total
 * of both shows it.
 */
function apart(totals: Totals): Usage {
  const [input, cacheRead, cacheWrite] = split(totals.input, totals.cacheRead, totals.cacheWrite);
  const beyond = split(totals.total, totals.input, totals.output)[0];
  const isReasoning = totals.input !== null && totals.output !== null && (beyond ?? 0) > 0;
  if (isReasoning && (totals.reasoning ?? beyond) === beyond) {
    return { input, cacheRead, cacheWrite, output: totals.output, reasoning: beyond };
  }
  const [output, reasoning] = split(totals.output, totals.reasoning);
  return { input, cacheRead, cacheWrite, output, reasoning };
}

/**
 * What its parts leave of a total, and the parts. An unknown part leaves it whole. Parts larger than
 * their total make all of them unknown, as nobody can tell which count is wrong.
 */
function split<P extends readonly Count[]>(total: Count, ...parts: P): readonly [Count, ...P] {
  if (total === null) return [null, ...parts];
  const rest = total - parts.reduce<number>(add, 0);
  if (rest >= 0) return [rest, ...parts];
  // Each part is a Count, and so is null.
  return [null, ...(parts.map(() => null) as readonly Count[] as P)];
}

function add(sum: number, part: Count): number {
  return sum + (part ?? 0);
}

/** A count at a path, also one whose spelling our reader kept (`12.0`). */
function count(usage: JsonValue | undefined, ...path: string[]): Count {
  const value = member(usage, ...path);
  return tokenCount(value instanceof Verbatim ? Number(value.text) : value);
}
