/**
 * What a cut has left of a secret. A page cuts what is long where it is read, and knows no secrets there.
 *
 * @module
 */
import { spellingsOf } from '../run/known-texts.ts';

/** What stands where a text was cut. */
const CUT = '…';

/** One letter before a cut says nothing, and any word may end with it. */
const FEWEST = 2;

/** A text in which nothing that stands before a cut is the beginning of a secret, in one of its usual spellings. */
export function hideCut(text: string, secrets: readonly string[], hidden: string): string {
  if (secrets.length === 0 || !text.includes(CUT)) return text;
  const spellings = secrets.flatMap((secret) => [...spellingsOf(secret)].map(upper));
  const parts = text.split(CUT);
  return parts
    .map((part, at) => (at + 1 < parts.length ? withoutEnd(part, spellings, hidden) : part))
    .join(CUT);
}

function withoutEnd(part: string, spellings: readonly string[], hidden: string): string {
  const written = upper(part);
  const length = Math.max(0, ...spellings.map((spelling) => begun(written, spelling)));
  return length === 0 ? part : part.slice(0, -length) + hidden;
}

/** How much of a secret a text ends with. */
function begun(text: string, spelling: string): number {
  for (let length = Math.min(text.length, spelling.length); length >= FEWEST; length -= 1)
    if (text.endsWith(spelling.slice(0, length))) return length;
  return 0;
}

/** Percent codes are the same in either case. */
function upper(text: string): string {
  return text.replaceAll(/%[\da-f]{1,2}/giu, (code) => code.toUpperCase());
}
