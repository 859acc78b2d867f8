/**
 * The file of disclosures beside a transcript, `<transcript>.open`: a line each, of the record's number, a space
 * and the disclosure.
 *
 * @module
 */
import { disclosureDigest, parseDisclosure, type Disclosure } from './disclosure.ts';

/** A disclosure, and the record that it belongs to. */
export interface OpenLine {
  /** Counted from 1. */
  readonly line: number;
  readonly seq: number;
  readonly disclosure: Disclosure;
  /** How many characters there are up to its end, its newline included. */
  readonly end: number;
}

/** A line that is no disclosure. */
export interface BadLine {
  readonly line: number;
  readonly problem: string;
  /** The number of the record that it names, if it names one. */
  readonly seq: number | undefined;
  /** Whether it may have been left by a crash: it is the last one, and unfinished. */
  readonly torn: boolean;
}

/** What such a file holds. */
export interface OpenFile {
  /** By the digest of the disclosure. */
  readonly lines: ReadonlyMap<string, OpenLine>;
  readonly bad: readonly BadLine[];
}

/** The file of a transcript without disclosures. */
export const NOTHING_OPEN: OpenFile = { lines: new Map(), bad: [] };

/** The line of a disclosure. */
export function openLine(seq: number, disclosure: string): string {
  return `${seq} ${disclosure}\n`;
}

/** Reads such a file. Never throws. @param text a character for each byte: a good file is ASCII. */
export function parseOpenFile(text: string): OpenFile {
  const lines = new Map<string, OpenLine>();
  const bad: BadLine[] = [];
  for (let start = 0, line = 1; start < text.length; line += 1) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline + 1;
    const content = text.slice(start, end);
    const read = readLine(content);
    const twin = read === undefined ? undefined : lines.get(read.digest);
    if (read !== undefined && twin === undefined) lines.set(read.digest, { ...read, line, end });
    else bad.push({ line, ...badLine(content, twin, end === text.length) });
    start = end;
  }
  return { lines, bad };
}

function readLine(
  content: string,
): (Pick<OpenLine, 'seq' | 'disclosure'> & { readonly digest: string }) | undefined {
  const [, seq, encoded] = /^(0|[1-9]\d{0,14}) ([A-Za-z0-9_-]+)\n$/.exec(content) ?? [];
  const disclosure = encoded === undefined ? undefined : parseDisclosure(encoded);
  if (encoded === undefined || disclosure === undefined) return undefined;
  return { seq: Number(seq), disclosure, digest: disclosureDigest(encoded) };
}

function badLine(
  content: string,
  twin: OpenLine | undefined,
  isLast: boolean,
): Pick<BadLine, 'problem' | 'seq' | 'torn'> {
  const named = /^\d{1,15}(?= )/.exec(content)?.[0];
  const isCut = !content.endsWith('\n');
  return {
    problem: problemOf(isCut, twin),
    seq: named === undefined ? undefined : Number(named),
    // A file system may leave NUL bytes where it lost what was written.
    torn: isLast && (isCut || content.includes('\0')),
  };
}

function problemOf(isCut: boolean, twin: OpenLine | undefined): string {
  if (twin !== undefined) return `it is line ${twin.line} again`;
  if (isCut) return 'it is unfinished';
  return 'it is no disclosure: the number of a record, a space, base64url';
}
