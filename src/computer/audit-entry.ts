/**
 * An audit log's entry: one line, byte for byte as tiny_computer_agent writes it (docs/audit-log.md).
 *
 * @module
 */
import { sha256Hex } from '#sha256';
import {
  canonicalJson,
  CanonicalError,
  MAX_LINE_BYTES,
  parseJson,
  type JsonValue,
} from '../transcript/index.ts';
import { integerText, membersOf, type Finding } from '../transcript/read-line.ts';

/** One line of an audit log: a step, or the end of an episode. */
export interface AuditEntry {
  readonly kind: 'step' | 'episode';
  /** From 0. Verdicts number entries from 1. */
  readonly index: number;
  /** When it was written, UTC, as `2026-11-30T07:47:33+00:00`. */
  readonly at: string;
  readonly goal: string;
  /** A step's `observationDigest`; empty in an episode. */
  readonly screen: string;
  /** What a step did; empty in an episode. */
  readonly action: string;
  /** What a step came to, or `success: …` or `failure: …` with why the episode ended. */
  readonly outcome: string;
  readonly ok: boolean;
  /** The digest of the entry before; empty in the first. */
  readonly prev: string;
  /** SHA-256 of the canonical JSON of the nine other fields, hex. */
  readonly digest: string;
}

/** What an entry says, before it has a place in a chain. */
export type AuditDraft = Omit<AuditEntry, 'index' | 'prev' | 'digest'>;

/** Where a log stands: what the next entry must continue. */
export interface AuditHead {
  /** How many entries there are; also the next one's index. */
  readonly count: number;
  /** The last entry's digest; empty when there is none. */
  readonly digest: string;
  readonly steps: number;
  /** How many of the steps failed. */
  readonly failed: number;
  readonly episodes: number;
  /** Whether the last entry ends an episode, so that none is under way. */
  readonly closed: boolean;
}

/** The head of a log without entries. */
export const EMPTY_AUDIT: AuditHead = {
  count: 0,
  digest: '',
  steps: 0,
  failed: 0,
  episodes: 0,
  closed: false,
};

/** The members of an entry, in their order. */
export const FIELDS = [
  'action',
  'at',
  'digest',
  'goal',
  'index',
  'kind',
  'ok',
  'outcome',
  'prev',
  'screen',
] as const;

/** An entry as it is written. */
export interface EntryLine {
  readonly entry: AuditEntry;
  /** The whole line with its newline. */
  readonly text: string;
}

/**
 * The line that continues `head` with `draft`.
 *
 * @throws {CanonicalError} if it holds a lone surrogate or is longer than {@link MAX_LINE_BYTES}.
 * @throws {TypeError} if it isn't what an entry may be.
 */
export function encodeEntry(head: AuditHead, draft: AuditDraft): EntryLine {
  const { kind, at, goal, screen, action, outcome, ok } = draft;
  const problem = typeProblem(draft) ?? contentProblem(draft);
  if (problem !== null) throw new TypeError(`an audit entry's ${problem}`);
  const { count: index, digest: prev } = head;
  const start = `{"action":${canonicalJson(action)},"at":${canonicalJson(at)},`;
  const members = { goal, index, kind, ok, outcome, prev, screen };
  const rest = canonicalJson(members).slice(1);
  const digest = sha256Hex(start + rest);
  const text = `${start}"digest":"${digest}",${rest}\n`;
  // A UTF-16 unit is at most three bytes of UTF-8.
  if (text.length * 3 > MAX_LINE_BYTES && new TextEncoder().encode(text).length > MAX_LINE_BYTES) {
    throw new CanonicalError('$', `an entry over ${MAX_LINE_BYTES} bytes`);
  }
  return { entry: { kind, index, at, goal, screen, action, outcome, ok, prev, digest }, text };
}

/** A caller without types may pass anything, and canonical JSON would write much of it. */
function typeProblem(draft: AuditDraft): string | null {
  if (typeof draft.ok !== 'boolean') return 'ok must be true or false';
  const texts = ['kind', 'at', 'goal', 'screen', 'action', 'outcome'] as const;
  const other = texts.find((name) => typeof draft[name] !== 'string');
  return other === undefined ? null : `${other} must be a string`;
}

/** The head after an entry was written. */
export function advanceAudit(
  { count, steps, failed, episodes }: AuditHead,
  isStep: boolean,
  ok: boolean,
  digest: string,
): AuditHead {
  return {
    count: count + 1,
    digest,
    steps: isStep ? steps + 1 : steps,
    failed: isStep && !ok ? failed + 1 : failed,
    episodes: isStep ? episodes : episodes + 1,
    closed: !isStep,
  };
}

/**
 * Reads an entry from a line, with or without its newline. It doesn't look at the chain, nor at the digest.
 *
 * @throws {SyntaxError} if the line is not exactly what an entry may be.
 */
export function parseEntry(line: string): AuditEntry {
  const parsed = parseJson(line);
  const read = parsed.ok ? readFields(parsed.value) : null;
  if (read === null || 'reason' in read) {
    throw new SyntaxError(
      `not an audit entry${read === null ? '' : `: ${read.detail}`}; verify the file first`,
    );
  }
  const { index, kind, ...rest } = read;
  const problem = contentProblem(read) ?? (Number(index) < 0 ? 'index is negative' : null);
  if (problem !== null) throw new SyntaxError(`not an audit entry: ${problem}`);
  return { ...rest, index: Number(index), kind: kind === 'step' ? kind : 'episode' };
}

/** An entry whose fields have the right types, and nothing more. */
export interface EntryFields extends Omit<AuditEntry, 'index' | 'kind'> {
  /** In digits: Python's integers have any size. */
  readonly index: string;
  readonly kind: string;
}

/** The ten fields of a line and no others, of exact types. */
export function readFields(value: JsonValue): EntryFields | Finding<'malformed_entry'> | Finding {
  const object = membersOf(value, FIELDS);
  if ('reason' in object) return object;
  const { index, ok, ...texts } = object.members;
  const digits = integerText(index);
  if (digits === null) return malformed('index must be an integer');
  if (typeof ok !== 'boolean') return malformed('ok must be true or false');
  const other = FIELDS.find((field) => field in texts && typeof texts[field] !== 'string');
  if (other !== undefined) return malformed(`${other} must be a string`);
  // All members but these two were just seen to be strings.
  return { ...(texts as unknown as EntryFields), index: digits, ok };
}

export function malformed(detail: string): Finding<'malformed_entry'> {
  return { reason: 'malformed_entry', detail };
}

/** What an entry says that none may, as `kind must be …`; null if nothing. */
export function contentProblem(
  entry: Omit<AuditDraft, 'kind'> & { readonly kind: string },
): string | null {
  const { kind, at, screen, action, outcome, ok } = entry;
  if (!isTime(at)) return "at must be a time in UTC, as '2026-11-30T07:47:33+00:00'";
  if (kind === 'step') {
    return /^[0-9a-f]{16}$/.test(screen)
      ? null
      : "screen must be a step's observation digest, 16 lower-case hex";
  }
  if (kind !== 'episode') return "kind must be 'step' or 'episode'";
  if (action !== '' || screen !== '') return 'action and screen must be empty in an episode';
  const opening = ok ? 'success: ' : 'failure: ';
  return outcome.startsWith(opening) ? null : `outcome must begin with '${opening}' as ok says`;
}

const TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\+00:00$/;

function isTime(text: string): boolean {
  return TIME.test(text);
}
