/**
 * The built-in file tools, all below one root: `--with fs` reads, `--with fs:write` changes too.
 *
 * @module
 */
import { tool, type AnyTool } from '../../index.ts';
import { type JsonObject } from '../../transcript/index.ts';
import { beginning } from '../words.ts';
import { FileError, type Place, type Root } from './root.ts';

const DEFAULT_LINES = 500;
/** UTF-16 units of text that one result holds: below the loop's limit on a result, escapes included. */
const MAX_TEXT = 65_536;
const MAX_ENTRIES = 1000;
const MAX_MATCHES = 200;
const MAX_LINE = 300;
/** Of a long line, so much is shown before a match. */
const MAX_BEFORE = 100;
const MAX_FILES = 20_000;
/** Larger files are seldom source text; a search counts them as skipped. */
const MAX_BYTES = 4 * 1024 * 1024;
const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules']);

const PATH = { type: 'string', description: 'relative to the root folder' };
const FOLDER = { type: 'string', description: 'relative to the root folder; default: the root' };

/** The tools that only read. */
export function readingTools(root: Root): readonly AnyTool[] {
  return [readTool(root), listTool(root), searchTool(root)];
}

/** The tools that write. They never run beside another tool. */
export function writingTools(root: Root): readonly AnyTool[] {
  return [writeTool(root), editTool(root)];
}

function readTool(root: Root): AnyTool {
  return tool({
    name: 'read_file',
    description: `Reads lines of a UTF-8 text file. Without offset and limit: the first ${DEFAULT_LINES} lines. The result says how many lines are left.`,
    input: schema(['path'], {
      path: PATH,
      offset: { type: 'integer', minimum: 1, description: 'the first line, counted from 1' },
      limit: { type: 'integer', minimum: 1, description: 'how many lines' },
    }),
    readOnly: true,
    execute: async ({ path, offset, limit }) => {
      const text = await root.readText(await root.place(String(path)));
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
    input: schema([], { path: FOLDER }),
    readOnly: true,
    execute: async ({ path }) => {
      const place = await root.place(typeof path === 'string' ? path : '.');
      const entries = await root.list(place);
      const names = entries.slice(0, MAX_ENTRIES).map((entry) => {
        const mark = entry.isDirectory() ? '/' : entry.isSymbolicLink() ? '@' : '';
        return entry.name.toWellFormed() + mark;
      });
      const left = entries.length - names.length;
      return {
        path: place.shown,
        entries: names,
        ...(left === 0 ? {} : { entries_left_out: left }),
      };
    },
  });
}

function searchTool(root: Root): AnyTool {
  return tool({
    name: 'search_files',
    description: `Finds a literal text (not a pattern) in the text files of a folder and below it, at most ${MAX_MATCHES} lines. Skips binary files, .git and node_modules.`,
    input: schema(['pattern'], {
      pattern: { type: 'string', minLength: 1, description: 'the text, case-sensitive' },
      path: { ...FOLDER, description: `a file or folder ${FOLDER.description}` },
    }),
    readOnly: true,
    execute: async ({ pattern, path }, { signal }) => {
      const place = await root.place(typeof path === 'string' ? path : '.');
      return search(root, place, String(pattern), signal);
    },
  });
}

async function search(
  root: Root,
  start: Place,
  pattern: string,
  signal: AbortSignal,
): Promise<JsonObject> {
  const matches: JsonObject[] = [];
  let searched = 0;
  let skipped = 0;
  let more = false;
  for await (const place of filesBelow(root, start)) {
    if (searched === MAX_FILES) more = true;
    if (more || signal.aborted) break;
    const text = await root.readText(place, MAX_BYTES).catch((error: unknown) => {
      // What was asked for by name must be there; what was found may be no text.
      if (place === start || !(error instanceof FileError)) throw error;
      return null;
    });
    if (text === null) skipped += 1;
    else searched += 1;
    for (const match of matchesIn(text ?? '', pattern, place.shown)) {
      if (matches.length === MAX_MATCHES) more = true;
      if (more) break;
      matches.push(match);
    }
  }
  return {
    matches,
    files_searched: searched,
    ...(skipped === 0 ? {} : { files_skipped: skipped }),
    ...(more ? { more } : {}),
  };
}

/** The file itself, or all files of the folder and below it. Links are not followed: they may lead out. */
async function* filesBelow(root: Root, place: Place): AsyncGenerator<Place> {
  // What can't be listed isn't a folder, or can't be read either: reading it says so.
  const entries = await root.list(place).catch(() => null);
  if (entries === null) yield place;
  for (const entry of entries ?? []) {
    const inside = {
      shown: place.shown === '.' ? entry.name : `${place.shown}/${entry.name}`,
      real: `${place.real}/${entry.name}`,
    };
    if (entry.isFile()) yield inside;
    if (entry.isDirectory() && !SKIPPED.has(entry.name)) yield* filesBelow(root, inside);
  }
}

/** One match a line is enough; a match that spans lines counts for the line where it begins. */
function* matchesIn(text: string, pattern: string, shown: string): Generator<JsonObject> {
  let line = 1;
  let counted = 0;
  let at = text.indexOf(pattern);
  while (at !== -1) {
    for (; counted < at; counted += 1) if (text.charCodeAt(counted) === 0x0a) line += 1;
    const newline = text.indexOf('\n', at);
    const end = newline === -1 ? text.length : newline;
    yield { path: shown.toWellFormed(), line, text: around(text, at, end) };
    at = text.indexOf(pattern, Math.max(end, at + 1));
  }
}

/** The line around a match, of which a very long one is cut. */
function around(text: string, at: number, end: number): string {
  const lineStart = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
  const from = Math.max(lineStart, at - MAX_BEFORE);
  return beginning(text.slice(from, end), MAX_LINE).toWellFormed();
}

function writeTool(root: Root): AnyTool {
  return tool({
    name: 'write_file',
    description: 'Writes a text file, with the folders it needs. A file that is there is replaced.',
    input: schema(['path', 'content'], { path: PATH, content: { type: 'string' } }),
    idempotent: true,
    parallel: false,
    execute: async ({ path, content }) => {
      const { shown } = await root.place(String(path));
      return { path: shown, bytes: await root.writeText(String(path), String(content)) };
    },
  });
}

function editTool(root: Root): AnyTool {
  return tool({
    name: 'edit_file',
    description: 'Replaces a text in a file. The old text must be there exactly once.',
    input: schema(['path', 'old', 'new'], {
      path: PATH,
      old: { type: 'string', minLength: 1, description: 'the text to replace, exactly as it is' },
      new: { type: 'string', description: 'what takes its place' },
    }),
    parallel: false,
    execute: async ({ path, old, new: replacement }) => {
      const place = await root.place(String(path));
      const text = await root.readText(place);
      const changed = replaceOnce(text, String(old), String(replacement), place.shown);
      return { path: place.shown, bytes: await root.writeText(String(path), changed) };
    },
  });
}

function replaceOnce(text: string, old: string, replacement: string, shown: string): string {
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

/** The JSON Schema of a tool's arguments. */
function schema(required: readonly string[], properties: JsonObject): JsonObject {
  return { type: 'object', properties, required, additionalProperties: false };
}
