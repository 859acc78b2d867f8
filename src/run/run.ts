/**
 * `run`: a task, from the options to the outcome.
 *
 * @module
 */
import { createTranscript } from '../store/file.ts';
import { memoryStore } from '../store/memory.ts';
import { StoreError, type TranscriptStore } from '../store/store.ts';
import { beginRun, isInUse, using, withOwnSignal } from './begin.ts';
import { carry } from './loop.ts';
import { type RunOptions } from './options.ts';
import { type Outcome } from './outcome.ts';
import { redacting } from './redacting.ts';
import { resume } from './resume.ts';
import { prepare } from './settings.ts';
import { RunState } from './state.ts';
import { worldSource } from './world.ts';

/**
 * Carries one task to one outcome.
 *
 * @throws {TypeError | RangeError} if the options are wrong.
 * @throws {StoreError} if the transcript can't be begun: there is one already, or another writer.
 * @throws {JournalError} if it is to be resumed, and was made under another configuration.
 */
export async function run(options: RunOptions): Promise<Outcome> {
  const settings = withOwnSignal(prepare(options));
  if (options.resume === true && options.transcript !== undefined) {
    const resumed = await resumeIfThere(options.transcript, options);
    if (resumed !== null) return resumed;
  }
  const { store, owned } = await openStore(options.transcript);
  return using(store, owned, () => {
    const state = new RunState(settings.configuration);
    const parts = { settings, state, source: worldSource(settings) };
    return redacting(store, settings.configuration.redact, undefined, (writer) =>
      carry({ ...parts, store: writer }, beginRun),
    );
  });
}

/** Goes on with a transcript; null if there is none to go on with. */
async function resumeIfThere(
  transcript: NonNullable<RunOptions['transcript']>,
  { transcript: _place, resume: _asked, ...options }: RunOptions,
): Promise<Outcome | null> {
  const isStore = typeof transcript === 'object' && 'head' in transcript;
  if (isStore && transcript.head.count === 0) return null;
  try {
    return await resume(transcript, options);
  } catch (error) {
    if (error instanceof StoreError && error.code === 'missing') return null;
    throw error;
  }
}

async function openStore(
  transcript: RunOptions['transcript'],
): Promise<{ store: TranscriptStore; owned: boolean }> {
  if (transcript === undefined) return { store: memoryStore(), owned: true };
  if (typeof transcript === 'string' || transcript instanceof URL)
    return { store: await createTranscript(transcript), owned: true };
  if (transcript.head.count > 0 && !isInUse(transcript)) {
    throw new StoreError(
      'exists',
      `${transcript.location} holds a transcript already; give the run an empty one`,
    );
  }
  return { store: transcript, owned: false };
}
