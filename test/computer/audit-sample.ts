/**
 * Audit logs for tests, made without the writer.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import {
  advanceAudit,
  EMPTY_AUDIT,
  encodeEntry,
  type AuditDraft,
} from '../../src/computer/audit-entry.ts';
import { canonicalJson, type JsonObject } from '../../src/transcript/index.ts';

export const AT = '2026-01-01T00:00:00+00:00';
export const SCREEN = '9521855c11dd7af4';

export function step(members: Partial<AuditDraft> = {}): AuditDraft {
  return {
    kind: 'step',
    at: AT,
    goal: 'save',
    screen: SCREEN,
    action: "click 'Save'",
    outcome: 'clicked',
    ok: true,
    ...members,
  };
}

export function ended(members: Partial<AuditDraft> = {}): AuditDraft {
  const outcome = members.ok === false ? 'failure: out of steps' : 'success: verified';
  return step({ kind: 'episode', screen: '', action: '', outcome, ...members });
}

/** A step, a failed step with odd text, the end of the episode, and another episode of two entries. */
export const SAMPLE: readonly AuditDraft[] = [
  step(),
  step({
    ok: false,
    outcome: 'nothing is labelled "Säve" 😀\n\u0001',
    at: '2026-01-01T00:00:01+00:00',
  }),
  ended({ ok: false }),
  step({ goal: 'send', action: 'press Enter' }),
  ended({ goal: 'send' }),
];

/** The lines of a log, each with its newline. */
export function logLines(drafts: readonly AuditDraft[] = SAMPLE): string[] {
  let head = EMPTY_AUDIT;
  return drafts.map((draft) => {
    const { entry, text } = encodeEntry(head, draft);
    head = advanceAudit(head, entry.kind === 'step', entry.ok, entry.digest);
    return text;
  });
}

export function log(drafts: readonly AuditDraft[] = SAMPLE): string {
  return logLines(drafts).join('');
}

/** The line of a fault's maker: any members, with the digest that is right for them. */
export function digested(members: JsonObject): string {
  const { digest: _, ...covered } = members;
  const digest = createHash('sha256').update(canonicalJson(covered)).digest('hex');
  return `${canonicalJson({ ...covered, digest })}\n`;
}

/** The members of a line, to be changed. */
export function membersOf(line: string): JsonObject {
  const members: JsonObject = JSON.parse(line);
  return members;
}
