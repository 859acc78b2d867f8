/**
 * How a run begins: its store, its signal, its first record.
 *
 * @module
 */
import { setMaxListeners } from 'node:events';
import { StoreError, type TranscriptStore } from '../store/store.ts';
import { type RunContext } from './context.ts';
import { headPayload } from './payloads.ts';
import { type Settings } from './settings.ts';

/** Writes the first record of a run. */
export async function beginRun(context: RunContext): Promise<void> {
  const { settings, state, store, source } = context;
  const { task, configuration } = settings;
  context.emit?.({ type: 'run-start', task, location: store.location });
  await context.record('user', { ...headPayload(task, configuration), ...source.stamp() });
  context.origin = store.head.hash;
  state.started(task);
}

/**
 * The run's own signal, which follows the caller's: each call of a turn listens to it, and Node warns of more
 * than ten listeners on a signal that nobody told it of.
 */
export function withOwnSignal(settings: Settings): Settings {
  if (!(settings.signal instanceof AbortSignal)) return settings;
  const signal = AbortSignal.any([settings.signal]);
  setMaxListeners(0, signal);
  return { ...settings, signal };
}

/** Stores that a run is writing to: each holds one run. */
const inUse = new WeakSet<TranscriptStore>();

/** Whether a run is writing to a store. */
export function isInUse(store: TranscriptStore): boolean {
  return inUse.has(store);
}

/**
 * Uses a store for one run, and closes it if it is our own.
 *
 * @throws {StoreError} `locked` if another run uses it.
 */
export async function using<T>(
  store: TranscriptStore,
  owned: boolean,
  use: () => Promise<T>,
): Promise<T> {
  if (inUse.has(store))
    throw new StoreError('locked', `${store.location}: another run is writing to this store`);
  inUse.add(store);
  try {
    return await use();
  } finally {
    inUse.delete(store);
    // The record is durable by now, or the outcome says that it failed: closing can take nothing back.
    if (owned) await store.close().catch(() => undefined);
  }
}
