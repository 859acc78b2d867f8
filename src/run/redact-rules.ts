/**
 * The rules that say which values are taken out of a record: paths, and a named list of patterns.
 *
 * @module
 */
import { compareCodePoints } from '../transcript/index.ts';

/** What a path goes through: a name or an index as text, or `*`, which is any. */
export type Step = string | typeof ANY;
export const ANY: unique symbol = Symbol('*');

/** A rule that was read. */
export type Rule =
  | { readonly of: 'task' | 'system' | 'answer' | 'secrets' }
  | {
      readonly of: 'arguments' | 'result';
      readonly tool: Step;
      /** Below the arguments or the result; empty for all of them. */
      readonly path: readonly Step[];
    };

/** The name of the list of patterns in `common-secrets.ts`. */
export const COMMON_SECRETS = 'common-secrets';

/**
 * Checks rules.
 *
 * @param tools the names of the tools there are; a rule for any other would take out nothing.
 * @returns each once and sorted, as they are recorded; undefined if there are none.
 * @throws {TypeError} if one can't be read, or can match nothing.
 */
export function checkedRules(
  rules: unknown,
  tools: ReadonlySet<string>,
): readonly string[] | undefined {
  if (!Array.isArray(rules) || !rules.every((rule) => typeof rule === 'string'))
    throw new TypeError("redact must be a list of texts, as ['tools.login.arguments.password']");
  for (const text of rules) {
    const rule = parseRule(text);
    if (!('tool' in rule) || rule.tool === ANY || tools.has(rule.tool)) continue;
    const known =
      tools.size === 0 ? 'there are no tools' : `the tools are ${[...tools].join(', ')}`;
    throw new TypeError(`redact: '${text}' would take out nothing: ${known}`);
  }
  const sorted = [...new Set(rules)].toSorted(compareCodePoints);
  return sorted.length === 0 ? undefined : sorted;
}

/**
 * Reads a rule: `tools.login.arguments.password`, `tools.*.result.rows[0]["a.b"]`, `task`, `system`, `answer`,
 * `common-secrets`.
 *
 * @throws {TypeError} if it is none.
 */
export function parseRule(text: string): Rule {
  if (text === COMMON_SECRETS) return { of: 'secrets' };
  const [head, tool, part, ...path] = steps(text);
  if (tool === undefined && (head === 'task' || head === 'system' || head === 'answer'))
    return { of: head };
  if (head === 'tools' && tool !== undefined && (part === 'arguments' || part === 'result'))
    return { of: part, tool, path };
  throw unreadable(text);
}

/** `name`, `*`, `[0]`, `[*]` or `["any name"]`, with `.` before a name but the first. */
const STEP = /(?:(?<=.)\.|^)(?:(\*)|([^.[\]"*\s]+))|\[(?:(\*)|(\d+)|("(?:[^"\\]|\\.)*"))\]/suy;

function steps(text: string): Step[] {
  const found: Step[] = [];
  STEP.lastIndex = 0;
  while (STEP.lastIndex < text.length) {
    const match = STEP.exec(text);
    if (match === null) throw unreadable(text);
    const [, anyName, name, anyIndex, index, quoted] = match;
    if (anyName !== undefined || anyIndex !== undefined) found.push(ANY);
    else found.push(name ?? index ?? unquoted(quoted ?? '', text));
  }
  return found;
}

function unquoted(quoted: string, text: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    throw unreadable(text);
  }
}

function unreadable(text: string): TypeError {
  return new TypeError(
    `redact: '${text}' is no rule; rules are tools.NAME.arguments, tools.NAME.result (both with a path below, as .user.password, [0] or .*), task, system, answer and ${COMMON_SECRETS}; NAME may be *`,
  );
}
