/**
 * The audit log of one episode, which may be lost on the way.
 *
 * @module
 */
import { describeError } from '../run/result.ts';
import { type AuditEnd, type AuditLog } from './audit-log.ts';

/** An audit log, if there is one, and whether it can still be written. Nothing here rejects. */
export class KeptAudit {
  /** Why nothing more can be written; null if all is well. */
  problem: string | null = null;
  readonly #log: AuditLog | undefined;

  constructor(log: AuditLog | undefined) {
    this.#log = log;
  }

  /** An entry could not be written. */
  lost(error: unknown): void {
    this.problem ??= `the audit log can't be written: ${describeError(error)}`;
  }

  /** Looks whether the last entry could be written now: why not, or null. */
  async look(): Promise<string | null> {
    return this.#try(async () => this.#log?.ready?.());
  }

  /** Writes the last entry, unless the log was lost before. */
  async close(end: AuditEnd): Promise<void> {
    await this.#try(async () => this.#log?.close(end));
  }

  async #try(act: () => Promise<unknown>): Promise<string | null> {
    try {
      if (this.problem === null) await act();
    } catch (error) {
      this.lost(error);
    }
    return this.problem;
  }
}
