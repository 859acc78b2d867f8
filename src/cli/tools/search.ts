/**
 * The built-in tool `search_files`: a literal text in the files below the root.
 *
 * @module
 */
import { type Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { tool } from '../../run/define-tool.ts';
import { type AnyTool } from '../../run/tool.ts';
import { compareCodePoints, type JsonObject } from '../../transcript/index.ts';
import { beginning } from '../words.ts';
import { fileError, FileError, type Place, type Root } from './root.ts';

const MAX_MATCHES = 200;
const MAX_LINE = 300;
/** Of a long line, so much is shown before the match. */
const MAX_BEFORE = 100;
const MAX_FILES = 20_000;
/** Larger files are seldom source text; they are counted as skipped. */
const MAX_BYTES = 4 * 1024 * 1024;
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** The tool. */
export function searchTool(root: Root): AnyTool {
  return tool({
    name: 'search_files',
    description: `Finds a literal text (not a pattern) in the text files of a folder and below it, at most ${MAX_MATCHES} lines. Skips binary files, .git and node_modules.`,
    input: {
      type: 'object',
      properties: {
        pattern: { type: 'string', minLength: 1, description: 'the text, case-sensitive' },
        path: {
          type: 'string',
          description: 'a file or folder relative to the root; default: the root',
        },
      },
      required: ['pattern'],
      additionalProperties: false,
    },
    readOnly: true,
    execute: async ({ pattern, path }, { signal }) => {
      const place = await root.place(typeof path === 'string' ? path : '.');
      const search = new Search(root, String(pattern), signal);
      await search.at(place);
      return search.result();
    },
  });
}

/** One search as it goes on. */
class Search {
  readonly #root: Root;
  readonly #pattern: string;
  readonly #signal: AbortSignal;
  readonly #matches: JsonObject[] = [];
  #searched = 0;
  #skipped = 0;
  #isCut = false;

  constructor(root: Root, pattern: string, signal: AbortSignal) {
    this.#root = root;
    this.#pattern = pattern;
    this.#signal = signal;
  }

  /** Searches a file, or a folder and all below it. */
  async at(place: Place): Promise<void> {
    const found = await stat(place.real).catch((error: unknown) => {
      throw fileError(place.shown, error);
    });
    if (!found.isDirectory()) return this.#file(place);
    const entries = await readdir(place.real, { withFileTypes: true }).catch(() => []);
    for (const entry of entries.toSorted((a, b) => compareCodePoints(a.name, b.name))) {
      if (this.#signal.aborted || this.#isCut) return undefined;
      await this.#entry(place, entry);
    }
    return undefined;
  }

  result(): JsonObject {
    return {
      matches: this.#matches,
      files_searched: this.#searched,
      ...(this.#skipped === 0 ? {} : { files_skipped: this.#skipped }),
      ...(this.#isCut ? { more: true } : {}),
    };
  }

  /** Links are not followed: they may lead out, or round in a circle. */
  async #entry(folder: Place, entry: Dirent): Promise<void> {
    const place = {
      shown: folder.shown === '.' ? entry.name : `${folder.shown}/${entry.name}`,
      real: `${folder.real}/${entry.name}`,
    };
    if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name)) return this.at(place);
    return entry.isFile() ? this.#file(place) : undefined;
  }

  async #file(place: Place): Promise<void> {
    if (this.#searched >= MAX_FILES) {
      this.#isCut = true;
      return;
    }
    const text = await this.#read(place);
    if (text === null) {
      this.#skipped += 1;
      return;
    }
    this.#searched += 1;
    if (text.includes(this.#pattern)) this.#lines(place, text);
  }

  async #read(place: Place): Promise<string | null> {
    try {
      if ((await stat(place.real)).size > MAX_BYTES) return null;
      return await this.#root.readText(place);
    } catch (error) {
      if (error instanceof FileError) return null;
      throw fileError(place.shown, error);
    }
  }

  /** One match a line is enough; a match that spans lines counts for the line where it begins. */
  #lines({ shown }: Place, text: string): void {
    let line = 1;
    let counted = 0;
    let at = text.indexOf(this.#pattern);
    while (at !== -1) {
      if (this.#matches.length === MAX_MATCHES) {
        this.#isCut = true;
        return;
      }
      for (; counted < at; counted += 1) if (text.charCodeAt(counted) === 0x0a) line += 1;
      const newline = text.indexOf('\n', at);
      const end = newline === -1 ? text.length : newline;
      this.#matches.push({ path: shown.toWellFormed(), line, text: around(text, at, end) });
      at = text.indexOf(this.#pattern, Math.max(end, at + 1));
    }
  }
}

/** The line around a match, of which a very long one is cut. */
function around(text: string, at: number, end: number): string {
  const lineStart = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
  const from = Math.max(lineStart, at - MAX_BEFORE);
  return beginning(text.slice(from, end), MAX_LINE).toWellFormed();
}
