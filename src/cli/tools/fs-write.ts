/**
 * Built-in tools that change files below one root: `--with fs:write`.
 *
 * @module
 */
import { constants } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { tool } from '../../run/define-tool.ts';
import { type AnyTool } from '../../run/tool.ts';
import { fileError, FileError, type Place, type Root } from './root.ts';

/** The tools that write. They never run beside another tool. */
export function writingTools(root: Root): readonly AnyTool[] {
  return [writeTool(root), editTool(root)];
}

function writeTool(root: Root): AnyTool {
  return tool({
    name: 'write_file',
    description: 'Writes a text file, with the folders it needs. A file that is there is replaced.',
    input: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'relative to the root folder' },
        content: { type: 'string' },
      },
      required: ['path', 'content'],
      additionalProperties: false,
    },
    idempotent: true,
    parallel: false,
    execute: async ({ path, content }) => {
      const place = await root.place(String(path));
      await mkdir(dirname(place.real), { recursive: true }).catch((error: unknown) => {
        throw fileError(place.shown, error);
      });
      // Links may have come in between, and the folders are there now.
      const bytes = await write(root, await root.place(String(path)), String(content));
      return { path: place.shown, bytes };
    },
  });
}

function editTool(root: Root): AnyTool {
  return tool({
    name: 'edit_file',
    description: 'Replaces a text in a file. The old text must be there exactly once.',
    input: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'relative to the root folder' },
        old: { type: 'string', minLength: 1, description: 'the text to replace, exactly as it is' },
        new: { type: 'string', description: 'what takes its place' },
      },
      required: ['path', 'old', 'new'],
      additionalProperties: false,
    },
    parallel: false,
    execute: async (args) => {
      const place = await root.place(String(args['path']));
      const text = await root.readText(place);
      const changed = replaceOnce(text, String(args['old']), String(args['new']), place);
      const bytes = await write(root, place, changed);
      return { path: place.shown, bytes };
    },
  });
}

function replaceOnce(text: string, old: string, replacement: string, { shown }: Place): string {
  const at = text.indexOf(old);
  if (at === -1) throw new FileError(`${shown}: the old text is not in it; read the file again`);
  // From the next character on, so that overlapping places count as two.
  if (text.indexOf(old, at + 1) !== -1) {
    throw new FileError(
      `${shown}: the old text is in it more than once; give more of what is around it`,
    );
  }
  return text.slice(0, at) + replacement + text.slice(at + old.length);
}

async function write(root: Root, place: Place, text: string): Promise<number> {
  const bytes = Buffer.from(text);
  // It is cut only after it was found to be a regular file.
  const file = await root.open(place, constants.O_WRONLY | constants.O_CREAT);
  try {
    await file.truncate(0);
    await file.writeFile(bytes);
  } catch (error) {
    throw fileError(place.shown, error);
  } finally {
    await file.close();
  }
  return bytes.length;
}
