/**
 * Whether an episode reached its goal: a look of its own at the screen, whatever the brain claims.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { type CheckResult } from '../run/outcome.ts';
import { describeError } from '../run/result.ts';
import { type EpisodeOptions } from './episode-options.ts';
import { type KeptAudit } from './kept-audit.ts';
import { type Secrets } from './secrets.ts';

/** The check of one episode, and the picture of its last screen. */
export class Success {
  /** What the check came to; null before it, and where it was cut off. */
  verdict: CheckResult | null = null;
  #picture: Picture | undefined;
  readonly #options: EpisodeOptions;
  readonly #secrets: Secrets;
  readonly #kept: KeptAudit;

  constructor(
    options: EpisodeOptions,
    { secrets, kept }: { readonly secrets: Secrets; readonly kept: KeptAudit },
  ) {
    this.#options = options;
    this.#secrets = secrets;
    this.#kept = kept;
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
      const found = readCheck(await check(await screen.observe({ signal }), screen));
      // What the audit log can't hold must not be in the transcript as verified.
      const problem = found.ok ? await this.#kept.look() : null;
      return problem === null ? found : { ok: false, detail: `not verified: ${problem}` };
    });
    const said = this.#secrets.hide(detail);
    const picture = await this.#taken();
    const words =
      picture === null
        ? []
        : ['sha256' in picture ? `last screen SHA-256 ${picture.sha256}` : picture.problem];
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

  async #taken(): Promise<Picture | null> {
    const { screen, screenshot } = this.#options;
    if (screenshot === undefined) return null;
    return (this.#picture ??= await pictured(screen, screenshot));
  }
}

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

async function pictured(screen: EpisodeOptions['screen'], path: string): Promise<Picture> {
  try {
    if (screen.screenshot === undefined) return { problem: 'this screen takes no pictures' };
    const there = await readFile(path).catch(() => null);
    // A record that was named by mistake must not be written over.
    if (there !== null && there.length > 0 && !there.subarray(0, PNG.length).equals(PNG))
      return { problem: `no picture was kept: ${basename(path)} is there, and is no PNG` };
    const bytes = await screen.screenshot();
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, bytes);
    return { sha256: createHash('sha256').update(bytes).digest('hex') };
  } catch (error) {
    return { problem: `no picture of the last screen: ${describeError(error)}` };
  }
}

/** W3C PNG, §5.2: the signature. */
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
