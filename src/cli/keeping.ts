/**
 * What the command keeps of a run beside its transcript: checkpoints, the memory of heads, the folder's catalogue.
 *
 * @module
 */
import { appendFileSync, existsSync } from 'node:fs';
import {
  type AttestedState,
  type AttestedStore,
  type Attesting,
} from '../attest/attested-store.ts';
import { catalogPath } from '../attest/catalog.ts';
import { noteReplaced, noteRun } from '../attest/catalog-notes.ts';
import { checkpointPath } from '../attest/checkpoint-file.ts';
import { HeadMemory } from '../attest/head-memory.ts';
import { openKeyring } from '../attest/key-file.ts';
import { originOf } from '../attest/log-identity.ts';
import { createAttested, openAttested } from '../attest/open.ts';
import { placesOf } from '../attest/place-of.ts';
import { placesIn } from '../attest/places.ts';
import { encodeVerifierKey, type SignerKey } from '../evidence/index.ts';
import { type OpenOptions, type TranscriptStore } from '../store/index.ts';
import { SIDECAR } from '../store/sidecars.ts';
import { faultOf, faultWords, rememberAudit } from './begun-audit.ts';
import { keyName } from './evidence-words.ts';
import { type Io } from './io.ts';
import { oneLine, problemOf } from './words.ts';

/** What would tell the log of a run from any other. */
export interface RunEvidence {
  /** What checkpoints call it. */
  readonly origin: string;
  /** How many records it has. */
  readonly size: number;
  /** Their head and their Merkle root, 64 hex digits each. */
  readonly head: string;
  readonly root: string;
  /** The key that signed all of them; null if none did. */
  readonly signed: string | null;
}

/** The evidence of one run. What can't be kept is said, and the run goes on. */
export class Keeping {
  readonly #io: Io;
  readonly #attesting: Attesting;
  #last: AttestedState | undefined;
  #isListed = true;
  #store: AttestedStore | undefined;

  private constructor(io: Io, signer: SignerKey | undefined) {
    this.#io = io;
    const memory = new HeadMemory(placesIn(io.env).state);
    this.#attesting = {
      signer,
      memory,
      onProblem: (problem) => io.err.line(oneLine(problem)),
      onState: (state) => this.#note(state),
    };
  }

  /** Makes ready; the user's key is made if there is none. */
  static async of(io: Io, sign: boolean): Promise<Keeping> {
    if (!sign) return new Keeping(io, undefined);
    try {
      const { signer } = await openKeyring(placesIn(io.env).config);
      return new Keeping(io, signer);
    } catch (error) {
      io.err.line(`not signed: ${problemOf(error)}`);
      return new Keeping(io, undefined);
    }
  }

  /** Starts a transcript; throws as `createTranscript` does. */
  async create(path: string): Promise<TranscriptStore> {
    await this.#list((attesting) => noteReplaced(path, attesting));
    this.#store = await createAttested(path, this.#attesting);
    return this.#store;
  }

  /** Opens one to go on with; throws as `openTranscript` does. */
  async open(path: string, accept: OpenOptions['accept']): Promise<TranscriptStore> {
    const options = accept === undefined ? {} : { accept };
    this.#store = await openAttested(path, this.#attesting, { ...options, recover: true });
    return this.#store;
  }

  /** Takes leave of an audit log that was removed, before a new one is begun in its place. */
  async beginAudit(file: string): Promise<void> {
    if (existsSync(file)) return;
    for (const place of placesOf(file)) await this.#attesting.memory?.leave(place);
  }

  /** Remembers an audit log as it is now; what can't be remembered is said by a later verify. */
  async audit(file: string): Promise<void> {
    const examined = await rememberAudit(file, this.#attesting.memory);
    const fault = examined === undefined ? undefined : faultOf(examined);
    if (fault !== undefined) this.#io.err.line(`${oneLine(file)}: ${faultWords(fault)}`);
  }

  /** What would tell this log from any other, once the transcript is closed; undefined if it holds nothing. */
  get evidence(): RunEvidence | undefined {
    const last = this.#last;
    if (last === undefined) return undefined;
    const { identity, size, head, root } = last;
    const { signer } = this.#attesting;
    const isSigned = signer !== undefined && this.#store?.signed === size;
    const key = isSigned ? encodeVerifierKey(signer.verifier) : null;
    return { origin: originOf(identity.id), size, head, root, signed: key };
  }

  /** Says that. */
  report(): void {
    const { evidence } = this;
    if (evidence === undefined) return;
    const { origin, size, head, signed } = evidence;
    const by = signed === null ? 'unsigned' : `signed by ${oneLine(keyName(signed))}`;
    const { err, env } = this.#io;
    // A terminal's scrollback or a job's log is a copy that no later edit of the file reaches: verify --count --head.
    err.line(`${err.style('quiet', 'evidence ')} ${origin} ${size} ${head} ${by}`);
    const summary = env['GITHUB_STEP_SUMMARY'] ?? '';
    if (summary !== '') this.#summarise(summary, evidence);
  }

  #note(state: AttestedState): Promise<void> {
    this.#last = state;
    return this.#list((attesting) => noteRun(state, attesting));
  }

  /** Writes to the folder's catalogue. */
  async #list(act: (attesting: Attesting) => Promise<void>): Promise<void> {
    if (!this.#isListed) return;
    try {
      // What can't be kept of the run can't be kept of the catalogue either, and is said once.
      const { signer, memory } = this.#attesting;
      await act({ signer, memory });
    } catch (error) {
      this.#isListed = false;
      this.#io.err.line(`not in the catalogue of its folder: ${problemOf(error)}`);
    }
  }

  /** https://docs.github.com/actions: what is appended to this file is shown with the job. */
  #summarise(summary: string, { origin, size, head, root, signed }: RunEvidence): void {
    const rows = [
      ['transcript', this.#last?.path],
      ['log', origin],
      ['records', String(size)],
      ['head', head],
      ['Merkle root', root],
      // The whole key: whoever has no more than this summary can verify a signature by it.
      ['signed by', signed ?? 'nobody'],
    ];
    const table = rows
      .map(([name = '', value = '']) => `| ${name} | <code>${cell(value)}</code> |`)
      .join('\n');
    try {
      appendFileSync(summary, `### hashtape\n\n| | |\n| --- | --- |\n${table}\n\n`);
    } catch (error) {
      this.#io.err.line(`GITHUB_STEP_SUMMARY can't be written: ${problemOf(error)}`);
    }
  }
}

/** Text in a table of Markdown: what could be markup or HTML in it, or end the cell, is an entity. */
function cell(text: string): string {
  return oneLine(text).replaceAll(
    /[^A-Za-z0-9 /-]/gu,
    (character) => `&#${character.codePointAt(0)};`,
  );
}

/** The files beside a transcript that only the command may write. */
export function ownFiles(realPath: string): readonly string[] {
  const catalog = catalogPath(realPath);
  const beside = Object.values(SIDECAR).map((ending) => realPath + ending);
  return [realPath, ...beside, catalog, checkpointPath(catalog)];
}
