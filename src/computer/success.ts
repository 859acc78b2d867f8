/**
 * Whether an episode reached its goal: a look of its own at the screen, whatever the brain claims.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { systemClock } from '../run/clock.ts';
import { Cancellation, race } from '../run/deadline.ts';
import { type CheckResult } from '../run/outcome.ts';
import { describeError } from '../run/result.ts';
import { type EpisodeOptions } from './episode-options.ts';
import { type KeptAudit } from './kept-audit.ts';
import { type Secrets } from './secrets.ts';

/** The check of one episode, and the picture of its last screen. */
export class Success {
  /** What the check came to; null before it, and where it was cut off. */
  verdict: CheckResult | null = null;
  /** Whether the episode was ended before that. */
  isLate = false;
  #picture: Promise<Picture | null> | undefined;
  readonly #options: EpisodeOptions;
  readonly #parts: SuccessParts;

  constructor(options: EpisodeOptions, parts: SuccessParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /**
   * Checks a fresh observation. It never rejects: what can't be checked isn't verified, and it says why.
   *
   * @param why why there is nothing to check; null if there is.
   */
  async check(signal: AbortSignal, why: string | null): Promise<CheckResult> {
    const { screen, check } = this.#options;
    const { ok, detail = '' } = await judged(async () => {
      if (why !== null) return { ok: false, detail: why };
      if (check === undefined) return { ok: false, detail: 'not verified: there is no check' };
      const found = readCheck(await check(await screen.observe({ signal }), screen, { signal }));
      // What the audit log can't hold must not be in the transcript as verified.
      const problem = found.ok ? await this.#parts.kept.look() : null;
      return problem === null ? found : { ok: false, detail: `not verified: ${problem}` };
    });
    this.isLate = this.#parts.signal.aborted;
    const said = this.#parts.secrets.hide(detail);
    const picture = await this.#taken();
    const words =
      picture === null
        ? []
        : [
            'sha256' in picture
              ? `last screen SHA-256 ${picture.sha256}`
              : this.#parts.secrets.hide(picture.problem),
          ];
    const all = [...(said === '' ? [] : [said]), ...words];
    this.verdict = { ok, detail: all.join('; ') };
    return this.verdict;
  }

  /** The picture that the check kept; where there was no check, one that is taken now. */
  async picture(): Promise<{ path: string; sha256: string } | null> {
    const picture = await this.#taken();
    const { screenshot: path } = this.#options;
    if (path === undefined || picture === null || 'problem' in picture) return null;
    return { path, sha256: picture.sha256 };
  }

  /** One picture, whoever asks first. */
  #taken(): Promise<Picture | null> {
    this.#picture ??= this.#take();
    return this.#picture;
  }

  async #take(): Promise<Picture | null> {
    const { screen, screenshot, clock = systemClock } = this.#options;
    if (screenshot === undefined) return null;
    const cancellation = new Cancellation();
    const work = pictured(screen, screenshot, cancellation.signal);
    const { signal } = this.#parts;
    const waiting = { clock, signal, milliseconds: PICTURE_MS, cancellation: new Cancellation() };
    let raced = await race(work, waiting);
    // Whoever aborts may still have the picture, if it is there at once.
    if (raced.ended === 'aborted')
      raced = await race(work, { ...waiting, signal: undefined, milliseconds: LAST_PICTURE_MS });
    if (raced.ended === 'value') return raced.value;
    cancellation.cancel(new Error('the picture came too late'));
    return { problem: 'no picture of the last screen: it did not come in time' };
  }
}

/** With what success is judged. */
interface SuccessParts {
  readonly secrets: Secrets;
  readonly kept: KeptAudit;
  /** Ends the episode. */
  readonly signal: AbortSignal;
}

/** A picture may take so long, and so long after an abort. */
const PICTURE_MS = 10_000;
const LAST_PICTURE_MS = 2000;

type Picture = { readonly sha256: string } | { readonly problem: string };

async function judged(judge: () => Promise<CheckResult>): Promise<CheckResult> {
  try {
    return await judge();
  } catch (error) {
    return { ok: false, detail: `not verified: the check raised ${describeError(error)}` };
  }
}

/** Only a plain yes is one. */
function readCheck(value: unknown): CheckResult {
  if (typeof value === 'boolean')
    return { ok: value, detail: value ? 'it holds' : 'it does not hold' };
  const { ok, detail }: { ok?: unknown; detail?: unknown } = Object(value);
  if (typeof ok !== 'boolean')
    return {
      ok: false,
      detail: 'not verified: the check gave neither true, false nor { ok, detail }',
    };
  return { ok, detail: typeof detail === 'string' ? detail : '' };
}

/** @param signal says that nobody waits for it any more. */
async function pictured(
  screen: EpisodeOptions['screen'],
  path: string,
  signal: AbortSignal,
): Promise<Picture> {
  try {
    if (screen.screenshot === undefined) return { problem: 'this screen takes no pictures' };
    const there = await readFile(path).catch(() => null);
    // A record that was named by mistake must not be written over.
    if (there !== null && there.length > 0 && !there.subarray(0, PNG.length).equals(PNG))
      return { problem: `no picture was kept: ${basename(path)} is there, and is no PNG` };
    const bytes = await screen.screenshot();
    signal.throwIfAborted();
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, bytes);
    return { sha256: createHash('sha256').update(bytes).digest('hex') };
  } catch (error) {
    return { problem: `no picture of the last screen: ${describeError(error)}` };
  }
}

/** W3C PNG, §5.2: the signature. */
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
