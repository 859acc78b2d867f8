/**
 * Loads tools from the files that `--tools` names.
 *
 * @module
 */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compileInput } from '../run/schema.ts';
import { checkTool, type AnyTool } from '../run/tool.ts';
import { CommandError, problemOf } from './command-error.ts';
import { oneLine } from './harmless.ts';

/** A tool and where it comes from, for messages. */
export interface SourcedTool {
  readonly tool: AnyTool;
  readonly source: string;
}

/**
 * The tools of a module whose default export is a tool or an array of tools.
 *
 * @throws {CommandError} that names the file and what is wrong in it.
 */
export async function loadTools(file: string): Promise<readonly SourcedTool[]> {
  const source = oneLine(file);
  const exported = await defaultExport(file, source);
  // The elements are checked one by one below.
  const list = Array.isArray(exported) ? (exported as unknown[]) : [exported];
  return list.map((tool, index) => {
    const place = Array.isArray(exported) ? `${source}, tool ${index + 1}` : source;
    return { tool: checked(tool, place), source };
  });
}

/**
 * The tools alone.
 *
 * @throws {CommandError} if two have the same name; it says where both come from.
 */
export function withoutClashes(sourced: readonly SourcedTool[]): readonly AnyTool[] {
  const seen = new Map<string, string>();
  for (const { tool, source } of sourced) {
    const other = seen.get(tool.name);
    if (other !== undefined) {
      const where = other === source ? `twice in ${source}` : `in ${other} and in ${source}`;
      throw new CommandError(`the tool '${tool.name}' is defined ${where}; rename one`);
    }
    seen.set(tool.name, source);
  }
  return sourced.map(({ tool }) => tool);
}

async function defaultExport(file: string, source: string): Promise<unknown> {
  const path = resolve(file);
  const found = await stat(path).catch(() => null);
  if (found === null || !found.isFile()) {
    throw new CommandError(`--tools ${source}: there is no such file; check the path`);
  }
  let loaded: Readonly<Record<string, unknown>>;
  try {
    loaded = await import(pathToFileURL(path).href);
  } catch (error) {
    const name = error instanceof Error ? error.name : 'Error';
    throw new CommandError(
      `--tools ${source}: it could not be loaded: ${oneLine(`${name}: ${problemOf(error)}`)}; mend the file (\`node ${source}\` shows where)`,
      { cause: error },
    );
  }
  if (loaded['default'] !== undefined) return loaded['default'];
  throw new CommandError(
    `--tools ${source}: it has no default export; write \`export default [{ name, description, input, execute }]\``,
  );
}

function checked(tool: unknown, place: string): AnyTool {
  try {
    // checkTool and compileInput look at every part that a tool must have.
    const candidate = tool as AnyTool;
    checkTool(candidate);
    compileInput(candidate);
    return candidate;
  } catch (error) {
    throw new CommandError(
      `--tools ${place}: ${oneLine(problemOf(error))}; a tool is { name, description, input: JSON Schema, execute(args) }`,
      { cause: error },
    );
  }
}
