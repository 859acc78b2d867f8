/**
 * Token usage: five disjoint counters, each unknown until somebody says it.
 *
 * @module
 */

/**
 * What one model call used, in tokens. The counters are disjoint: their sum is the total. `null` means
 * unknown, never zero. Providers count otherwise (OpenAI's input includes cached tokens and its output
 * includes reasoning; Anthropic's input excludes both cache counters), and adapters convert.
 */
export interface Usage {
  /** Input that was neither read from nor written to a cache. */
  readonly input: number | null;
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
  /** Visible output: text and tool calls. */
  readonly output: number | null;
  readonly reasoning: number | null;
}

/** The counters' names, in the order in which they are written. */
export const USAGE_COUNTERS = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning'] as const;

/** A count that a provider reported, or null if what it reported isn't one (NaN, -5, "12", absent). */
export function tokenCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** Usage from whatever counters are known; null when none is. */
export function usageOf(counters: { readonly [K in keyof Usage]?: unknown }): Usage | null {
  const usage = {
    input: tokenCount(counters.input),
    cacheRead: tokenCount(counters.cacheRead),
    cacheWrite: tokenCount(counters.cacheWrite),
    output: tokenCount(counters.output),
    reasoning: tokenCount(counters.reasoning),
  };
  return USAGE_COUNTERS.some((name) => usage[name] !== null) ? usage : null;
}

/** The tokens of a text where nobody counted them: `max(1, floor(code points / 4))`. */
export function estimateTokens(points: number): number {
  return Math.max(1, Math.floor(points / 4));
}

/** How many code points a text has. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit <= 0xdbff && i + 1 < text.length) {
      const next = text.charCodeAt(i + 1);
      if (next >= 0xdc00 && next <= 0xdfff) {
        count -= 1;
        i += 1;
      }
    }
  }
  return count;
}
