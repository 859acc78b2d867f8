/**
 * What `run` and `resume` have in common: what options say of a run, and the run itself with a display,
 * questions, interrupts and a report around it.
 *
 * @module
 */
import { realpath, stat } from 'node:fs/promises';
import {
  systemClock,
  type Budget,
  type Outcome,
  type Price,
  type RunEvent,
  type RunOptions,
} from '../index.ts';
import { prepare } from '../run/settings.ts';
import { Display } from './display.ts';
import { asker, permit, takeInterrupts } from './interaction.ts';
import { CommandError, type ExitStatus, type Io } from './io.ts';
import { type Keeping } from './keeping.ts';
import { type LiveFlags } from './live-options.ts';
import { given } from './options.ts';
import { report } from './report.ts';
import { Root } from './tools/root.ts';
import { commandCheck, commandsEnded } from './tools/shell.ts';
import { harmlessJson, oneLine, problemOf } from './words.ts';

/** The folder of the built-in tools. */
export async function rootFolder(path: string): Promise<Root> {
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory() === true) return new Root(await realpath(path));
  throw new CommandError(`--root ${oneLine(path)}: there is no such folder; check the path`);
}

/** What the model costs, as far as it isn't given as it was `recorded`. */
export function priceOf(
  { priceIn, priceOut, maxUsd }: LiveFlags,
  recorded?: Price,
): Price | undefined {
  const { input = recorded?.input, output = recorded?.output } = given({
    input: priceIn,
    output: priceOut,
  });
  if (input !== undefined && output !== undefined) return { ...recorded, input, output };
  if (input === undefined && output === undefined && maxUsd === undefined) return undefined;
  const why =
    maxUsd === undefined
      ? 'a price has two parts: give both'
      : '--max-usd needs to know what the model costs: give';
  throw new CommandError(`${why} --price-in and --price-out, in US dollars per million tokens`);
}

/** What else options say of a run, but for what its record may say in their place. */
export function optionsOf(
  { system, sentinel, check, maxOutputTokens }: LiveFlags,
  root: Root,
): Partial<Pick<RunOptions, 'clock' | 'system' | 'sentinel' | 'check' | 'maxOutputTokens'>> {
  return {
    clock: systemClock,
    ...given({ system, sentinel, maxOutputTokens }),
    ...(check === undefined ? {} : { check: commandCheck(check, root.path) }),
  };
}

/** What the library would refuse is refused before a transcript is begun or changed. */
export function refuseBad(options: RunOptions): void {
  try {
    prepare(options);
  } catch (error) {
    throw new CommandError(`the run can't be started: ${problemOf(error)}`, { cause: error });
  }
}

/** What a run is given so that a person can watch it and step in. */
export interface Watching extends Pick<RunOptions, 'permit' | 'ask' | 'signal'> {
  readonly on: (event: RunEvent) => void;
  /** Says a line of ours, whatever is on the screen. */
  readonly say: (text: string) => void;
}

/** Carries a run with a display, questions and interrupts around it, and reports how it ended. */
export async function carryLive(
  flags: LiveFlags,
  budget: Budget,
  { io, keeping }: { readonly io: Io; readonly keeping: Keeping },
  carry: (watching: Watching) => Promise<Outcome>,
): Promise<ExitStatus> {
  const { err, out } = io;
  const outcome = await watchLive(flags, budget, io, carry);
  const { evidence } = keeping;
  if (flags.json === true) out.line(harmlessJson(JSON.stringify({ ...outcome, evidence })));
  err.line(report(outcome, flags.check !== undefined, err.style));
  keeping.report();
  // 0 only if the model ended the run by itself, and no check says otherwise.
  const ended = outcome.reason === 'no_tool_calls' || outcome.reason === 'sentinel';
  return ended && outcome.verified !== false ? 0 : 1;
}

/** Carries a run with a display, questions and interrupts around it. */
export async function watchLive(
  { ask: wanted, json }: Pick<LiveFlags, 'ask' | 'json'>,
  budget: Budget,
  io: Io,
  carry: (watching: Watching) => Promise<Outcome>,
): Promise<Outcome> {
  // With --json, stdout is for the outcome alone.
  const display = new Display(io.err, json === true ? io.err : io.out, budget);
  const signal = takeInterrupts((what) => display.say(what));
  const ask = wanted && asker(io, display, signal);
  if (wanted && ask === undefined) {
    io.err.line(
      "--ask: there is no terminal to ask on, so every tool that isn't read-only is denied",
    );
  }
  try {
    return await carry({
      ...given({ permit: wanted && permit, ask }),
      signal,
      on: (event) => display.on(event),
      say: (text) => display.say(text),
    });
  } finally {
    display.end();
    await commandsEnded();
  }
}
