/**
 * Puts a transcript's records together again from its disclosures, and tells what is withheld and what is wrong.
 *
 * @module
 */
import { isJsonArray, isJsonObject, type TranscriptRecord } from '../transcript/index.ts';
import { redactAsIn, reveal, type Commitment, type Payload } from './commit.ts';
import { type Disclosure } from './disclosure.ts';
import { type BadLine, type OpenFile, type OpenLine } from './open-file.ts';

/** A record, as far as it could be put together again. */
export interface RevealedRecord {
  /** Its hash stays that of the record as it stands in the file. */
  readonly record: TranscriptRecord;
  readonly commitments: readonly Commitment[];
}

/** A disclosure that is wrong. */
export interface OpenFault {
  /** The line of the file of disclosures. */
  readonly line: number;
  readonly problem: string;
}

/** What the disclosures of a transcript come to. */
export interface Disclosed {
  /** How many values were taken out of the records. */
  readonly committed: number;
  readonly disclosed: number;
  readonly withheld: number;
  /** Disclosures for records that are not there: a crash leaves them, and so does a cut. */
  readonly unused: number;
  /** In the order of their lines. */
  readonly faults: readonly OpenFault[];
}

/** Reads the records of one transcript, from the first on. */
export class Revealer {
  readonly #open: OpenFile;
  /** The record of each digest. */
  readonly #seen = new Map<string, number>();
  /** The lines that were put back. */
  readonly #used = new Set<string>();
  readonly #faults: OpenFault[] = [];
  #count = 0;
  /** Whether the writer of the records takes values out: in the record of any other, `_sd` is just a name. */
  #active = false;
  /** How many bytes of the file belong to the records so far. */
  #kept = 0;

  constructor(open: OpenFile) {
    this.#open = open;
  }

  /** How many bytes of the file, from its start, the records so far need. */
  get keptBytes(): number {
    return this.#kept;
  }

  /** Whether there are no disclosures at all, good or bad. */
  get isEmpty(): boolean {
    return this.#open.lines.size === 0 && this.#open.bad.length === 0;
  }

  /** The values of the disclosures that were put back. */
  *values(): Generator<Disclosure> {
    for (const digest of this.#used) {
      const found = this.#open.lines.get(digest);
      if (found !== undefined) yield found.disclosure;
    }
  }

  /** The next record. */
  reveal(record: TranscriptRecord): RevealedRecord {
    this.#count += 1;
    this.#active = isRedacted(record) ?? this.#active;
    if (!this.#active) return { record, commitments: [] };
    const { seq } = record;
    const { payload, commitments } = reveal(record.payload, (digest) => this.#of(digest, seq));
    for (const commitment of commitments) this.#look(commitment, seq);
    // Most records hold no digest, and stay the very same.
    return { record: commitments.length === 0 ? record : { ...record, payload }, commitments };
  }

  /** The payload of a record as it was written, from one that says the same. */
  redactAgain(payload: Payload, recorded: TranscriptRecord): Payload {
    const { seq } = recorded;
    // A container stays one.
    return redactAsIn(payload, recorded.payload, (digest) => this.#of(digest, seq)) as Payload;
  }

  /** @param sealed whether the run has ended: then no crash explains a disclosure that nothing needs. */
  end(sealed: boolean): Disclosed {
    const faults = [...this.#faults];
    const wrong = new Set(faults.map(({ line }) => line));
    let unused = 0;
    for (const [digest, line] of this.#open.lines) {
      if (this.#used.has(digest)) continue;
      if (!sealed && line.seq >= this.#count && !this.#seen.has(digest)) unused += 1;
      else if (!wrong.has(line.line))
        faults.push({ line: line.line, problem: this.#whyUnused(digest, line) });
    }
    for (const bad of this.#open.bad) {
      if (!sealed && this.#isLeftover(bad)) unused += 1;
      else faults.push({ line: bad.line, problem: bad.problem });
    }
    const [committed, disclosed] = [this.#seen.size, this.#used.size];
    faults.sort((a, b) => a.line - b.line);
    return { committed, disclosed, withheld: committed - disclosed, unused, faults };
  }

  #of(digest: string, seq: number): Disclosure | undefined {
    const line = this.#open.lines.get(digest);
    return line?.seq === seq ? line.disclosure : undefined;
  }

  #look({ digest, state }: Commitment, seq: number): void {
    const line = this.#open.lines.get(digest);
    this.#seen.set(digest, seq);
    if (line === undefined || line.seq !== seq) return;
    this.#kept = Math.max(this.#kept, line.end);
    if (state === 'disclosed') this.#used.add(digest);
    else {
      const problem = `what it discloses can't be where record ${seq} has its digest`;
      this.#faults.push({ line: line.line, problem });
    }
  }

  #whyUnused(digest: string, { seq }: OpenLine): string {
    const other = this.#seen.get(digest);
    return other === undefined
      ? `it matches nothing that record ${seq} committed to`
      : `it names record ${seq}, and belongs to record ${other}`;
  }

  #isLeftover({ torn, seq }: BadLine): boolean {
    return torn && (seq === undefined || seq >= this.#count);
  }
}

/** Whether its writer took values out, from this record on; undefined if the record doesn't say. */
export function isRedacted({ kind, payload }: TranscriptRecord): boolean | undefined {
  if (!isJsonObject(payload) || (kind !== 'user' && kind !== 'resumed')) return undefined;
  const { run } = payload;
  return isJsonObject(run) ? isJsonArray(run['redact']) : undefined;
}
