/**
 * Whether an episode reached its goal: a look of its own at the screen, whatever the brain claims.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { type CheckResult } from '../run/outcome.ts';
import { describeError } from '../run/result.ts';
import { type EpisodeOptions } from './episode-options.ts';

/** Checks a fresh observation. It never rejects: what can't be checked isn't verified, and it says why. */
export async function checkScreen(
  { screen, check, screenshot }: EpisodeOptions,
  signal: AbortSignal,
): Promise<CheckResult> {
  const found = await judged(async () => {
    if (check === undefined) return { ok: false, detail: 'not verified: there is no check' };
    return readCheck(await check(await screen.observe({ signal }), screen));
  });
  if (screenshot === undefined) return found;
  const picture = await pictured(screen, screenshot);
  return { ok: found.ok, detail: [found.detail, picture].filter(Boolean).join('; ') };
}

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

async function pictured(screen: EpisodeOptions['screen'], path: string): Promise<string> {
  try {
    if (screen.screenshot === undefined) return 'this screen takes no pictures';
    const bytes = await screen.screenshot();
    await writeFile(path, bytes);
    return `last screen SHA-256 ${createHash('sha256').update(bytes).digest('hex')}`;
  } catch (error) {
    return `no picture of the last screen: ${describeError(error)}`;
  }
}
