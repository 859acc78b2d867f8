/**
 * The tools of a run: from the files that `--tools` names, and the built-in ones that `--with` names.
 *
 * @module
 */
import { stat } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { type AnyTool } from '../index.ts';
import { compileInput } from '../run/schema.ts';
import { checkTool } from '../run/tool.ts';
import { meantPath } from '../store/place.ts';
import { codeOf } from '../store/store-errors.ts';
import { CommandError } from './io.ts';
import { readingTools, writingTools } from './tools/files.ts';
import { type Root } from './tools/root.ts';
import { shellTool } from './tools/shell.ts';
import { oneLine, problemOf } from './words.ts';

/** The sets of built-in tools. None is there unless it is asked for; `fs:write` includes `fs`. */
export const BUILT_IN = ['fs', 'fs:write', 'shell'] as const;

/** One of the sets. */
export type BuiltIn = (typeof BUILT_IN)[number];

/**
 * All tools.
 *
 * @throws {CommandError} that names the file and what is wrong in it, or both places of a name.
 */
export async function gatherTools(
  files: readonly string[],
  sets: readonly BuiltIn[],
  root: Root,
): Promise<readonly AnyTool[]> {
  const sources: [source: string, tools: readonly AnyTool[]][] = [];
  for (const file of files) sources.push([oneLine(file), await loadTools(file)]);
  sources.push(['the built-in tools', builtInTools(sets, root)]);
  const sourceOf = new Map<string, string>();
  for (const [source, tools] of sources) {
    for (const { name } of tools) {
      const other = sourceOf.get(name);
      if (other !== undefined) {
        const where = other === source ? `twice in ${source}` : `in ${other} and in ${source}`;
        throw new CommandError(`the tool '${name}' is defined ${where}; rename one`);
      }
      sourceOf.set(name, source);
    }
  }
  return sources.flatMap(([, tools]) => tools);
}

function builtInTools(sets: readonly BuiltIn[], root: Root): readonly AnyTool[] {
  const writes = sets.includes('fs:write');
  return [
    ...(writes || sets.includes('fs') ? readingTools(root) : []),
    ...(writes ? writingTools(root) : []),
    ...(sets.includes('shell') ? [shellTool(root)] : []),
  ];
}

async function loadTools(file: string): Promise<readonly AnyTool[]> {
  const source = oneLine(file);
  const exported = await defaultExport(file, source);
  if (!Array.isArray(exported)) return [checked(exported, source)];
  return exported.map((tool: unknown, index) => checked(tool, `${source}, tool ${index + 1}`));
}

async function defaultExport(file: string, source: string): Promise<unknown> {
  const path = meantPath(file);
  const found = await stat(path).catch(() => null);
  if (found === null || !found.isFile()) {
    throw new CommandError(`--tools ${source}: there is no such file; check the path`);
  }
  if (!/\.[cm]?[jt]sx?$/.test(path)) {
    throw new CommandError(
      `--tools ${source}: a file of tools is a JavaScript module, named .mjs or .js`,
    );
  }
  let loaded: Readonly<Record<string, unknown>>;
  try {
    loaded = await import(pathToFileURL(path).href);
  } catch (error) {
    if (codeOf(error) === 'ERR_UNKNOWN_FILE_EXTENSION' && /\.[cm]?tsx?$/.test(path)) {
      throw new CommandError(
        `--tools ${source}: Node ${process.versions.node.split('.')[0]} can't load TypeScript: compile it, or write .mjs`,
        { cause: error },
      );
    }
    const name = error instanceof Error ? error.name : 'Error';
    throw new CommandError(
      `--tools ${source}: it could not be loaded: ${oneLine(name)}: ${problemOf(error)}; mend the file (\`node ${source}\` shows where)`,
      { cause: error },
    );
  }
  if (loaded['default'] !== undefined) return loaded['default'];
  throw new CommandError(
    `--tools ${source}: it has no default export; write \`export default [{ name, description, input, execute }]\``,
  );
}

function checked(exported: unknown, place: string): AnyTool {
  try {
    // checkTool and compileInput look at every part that a tool must have.
    const tool = exported as AnyTool;
    checkTool(tool);
    compileInput(tool);
    return tool;
  } catch (error) {
    throw new CommandError(
      `--tools ${place}: ${problemOf(error)}; a tool is { name, description, input: JSON Schema, execute(args) }`,
      { cause: error },
    );
  }
}
