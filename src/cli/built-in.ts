/**
 * The built-in tools that `--with` names. None is there unless it was asked for.
 *
 * @module
 */
import { type BuiltIn } from './run.ts';
import { type SourcedTool } from './tool-files.ts';
import { readingTools } from './tools/fs.ts';
import { writingTools } from './tools/fs-write.ts';
import { type Root } from './tools/root.ts';
import { shellTool } from './tools/shell.ts';

/** The tools of the sets that were asked for; asking twice is asking once. `fs:write` includes `fs`. */
export function builtInTools(sets: readonly BuiltIn[], root: Root): readonly SourcedTool[] {
  const writes = sets.includes('fs:write');
  const tools = [
    ...(writes || sets.includes('fs') ? readingTools(root) : []),
    ...(writes ? writingTools(root) : []),
    ...(sets.includes('shell') ? [shellTool(root)] : []),
  ];
  return tools.map((tool) => ({ tool, source: 'the built-in tools' }));
}
