/**
 * Built-in tools that read files below one root: `--with fs`.
 *
 * @module
 */
import { readdir } from 'node:fs/promises';
import { tool } from '../../run/define-tool.ts';
import { type AnyTool } from '../../run/tool.ts';
import { compareCodePoints, type JsonObject } from '../../transcript/index.ts';
import { beginning } from '../words.ts';
import { fileError, FileError, type Root } from './root.ts';
import { searchTool } from './search.ts';

const DEFAULT_LINES = 500;
/** UTF-16 units of text that one result holds: below the loop's limit on a result, escapes included. */
const MAX_TEXT = 65_536;
const MAX_ENTRIES = 1000;

/** The tools that only read. */
export function readingTools(root: Root): readonly AnyTool[] {
  return [readTool(root), listTool(root), searchTool(root)];
}

function readTool(root: Root): AnyTool {
  return tool({
    name: 'read_file',
    description: `Reads lines of a UTF-8 text file. Without offset and limit: the first ${DEFAULT_LINES} lines. The result says how many lines are left.`,
    input: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'relative to the root folder' },
        offset: { type: 'integer', minimum: 1, description: 'the first line, counted from 1' },
        limit: { type: 'integer', minimum: 1, description: 'how many lines' },
      },
      required: ['path'],
      additionalProperties: false,
    },
    readOnly: true,
    execute: async ({ path, offset, limit }) => {
      const place = await root.place(String(path));
      const text = await root.readText(place);
      return excerpt(text, Number(offset ?? 1), Number(limit ?? DEFAULT_LINES));
    },
  });
}

/** Lines of a text, as many as fit, and what is left. */
function excerpt(text: string, offset: number, limit: number): JsonObject {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const total = lines.length;
  if (offset > Math.max(1, total)) {
    throw new FileError(`offset ${offset} is after the end: the file has ${total} lines`);
  }
  const taken: string[] = [];
  let units = 0;
  for (const line of lines.slice(offset - 1, offset - 1 + limit)) {
    units += line.length + 1;
    if (units > MAX_TEXT && taken.length > 0) break;
    taken.push(line);
  }
  const whole = taken.join('\n');
  const kept = beginning(whole, MAX_TEXT);
  const last = offset - 1 + taken.length;
  return {
    text: kept,
    first_line: offset,
    last_line: last,
    total_lines: total,
    ...(kept === whole ? {} : { characters_left_out: whole.length - kept.length }),
    ...(last < total ? { lines_left: total - last, next_offset: last + 1 } : {}),
  };
}

function listTool(root: Root): AnyTool {
  return tool({
    name: 'list_files',
    description:
      'Lists one folder. A name that ends in / is a folder, one that ends in @ a symbolic link.',
    input: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'relative to the root folder; default: the root' },
      },
      additionalProperties: false,
    },
    readOnly: true,
    execute: async ({ path }) => {
      const place = await root.place(typeof path === 'string' ? path : '.');
      const entries = await readdir(place.real, { withFileTypes: true }).catch((error: unknown) => {
        throw fileError(place.shown, error);
      });
      const names = entries
        .map((entry) => entry.name.toWellFormed() + mark(entry))
        .toSorted(compareCodePoints);
      const left = Math.max(0, names.length - MAX_ENTRIES);
      return {
        path: place.shown,
        entries: names.slice(0, MAX_ENTRIES),
        ...(left === 0 ? {} : { entries_left_out: left }),
      };
    },
  });
}

function mark(entry: { isDirectory(): boolean; isSymbolicLink(): boolean }): string {
  if (entry.isDirectory()) return '/';
  return entry.isSymbolicLink() ? '@' : '';
}
