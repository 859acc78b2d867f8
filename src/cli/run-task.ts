/**
 * One run of the command: prepared, watched, and reported.
 *
 * @module
 */
import { realpath, stat } from 'node:fs/promises';
import { systemClock } from '../run/clock.ts';
import { run } from '../run/loop.ts';
import { type Outcome } from '../run/outcome.ts';
import { type RunOptions } from '../run/options.ts';
import { prepare } from '../run/settings.ts';
import { asking, type Asking } from './ask.ts';
import { budgetOf, priceOf } from './budget-flags.ts';
import { builtInTools } from './built-in.ts';
import { commandCheck } from './check-command.ts';
import { CommandError, problemOf, type ExitStatus } from './command-error.ts';
import { Display } from './display.ts';
import { harmlessJson, oneLine } from './harmless.ts';
import { takeInterrupts } from './interrupt.ts';
import { type Io } from './io.ts';
import { chooseModel } from './model-choice.ts';
import { createOut } from './out-path.ts';
import { reportLines } from './report.ts';
import { type RunFlags } from './run.ts';
import { loadTools, withoutClashes, type SourcedTool } from './tool-files.ts';
import { commandsEnded } from './tools/process-group.ts';
import { Root } from './tools/root.ts';

/** Runs a task. */
export async function runTask(task: string, flags: RunFlags, io: Io): Promise<ExitStatus> {
  const root = await rootFolder(flags.root);
  const budget = budgetOf(flags);
  const price = priceOf(flags);
  const tools = withoutClashes([
    ...(await toolFiles(flags.tools)),
    ...builtInTools(flags.with, root),
  ]);
  const { model, said } = await chooseModel({ wanted: flags.model, price, env: io.env });
  const basis: RunOptions = {
    task,
    model,
    tools,
    budget,
    clock: systemClock,
    runId: crypto.randomUUID(),
    repeats: flags.repeats,
    ...(flags.system === undefined ? {} : { system: flags.system }),
    ...(flags.sentinel === undefined ? {} : { sentinel: flags.sentinel }),
    ...(flags.maxOutputTokens === undefined ? {} : { maxOutputTokens: flags.maxOutputTokens }),
    ...(flags.stopOnStall === undefined ? {} : { watchdog: { onStall: 'stop' } }),
    ...(flags.check === undefined ? {} : { check: commandCheck(flags.check, root.path) }),
  };
  checked(basis);
  const live = new Live(io, flags, basis, root);
  if (said !== undefined) live.say(said);
  return live.run();
}

/** One live run with what is around it: display, questions, interrupts. */
class Live {
  readonly #io: Io;
  readonly #flags: RunFlags;
  readonly #basis: RunOptions;
  readonly #root: Root;
  readonly #display: Display;

  constructor(io: Io, flags: RunFlags, basis: RunOptions, root: Root) {
    this.#io = io;
    this.#flags = flags;
    this.#basis = basis;
    this.#root = root;
    // With --json, stdout is for the outcome alone.
    const text = flags.json === true ? io.err : io.out;
    this.#display = new Display(io.err, text, basis.budget ?? {});
  }

  say(text: string): void {
    if (this.#flags.quiet !== true) this.#io.err.line(text);
  }

  async run(): Promise<ExitStatus> {
    const { out, durability } = this.#flags;
    const { task, model } = this.#basis;
    const store = await createOut({ out, task, durability, now: new Date() });
    this.#root.keep(await realpath(store.location));
    this.say(`model ${oneLine(model.id ?? 'custom')}, transcript ${oneLine(store.location)}`);
    const interrupt = takeInterrupts((what) => this.#announce(what));
    const ask = this.#asking(interrupt.signal);
    let outcome: Outcome;
    try {
      outcome = await run({
        ...this.#basis,
        transcript: store,
        signal: interrupt.signal,
        ...(ask === null
          ? {}
          : { permit: ask.permit, ...(ask.ask === undefined ? {} : { ask: ask.ask }) }),
        ...(this.#flags.quiet === true ? {} : { on: (event) => this.#display.on(event) }),
      });
    } finally {
      this.#display.end();
      ask?.close();
      await store.close();
    }
    await commandsEnded();
    interrupt.release();
    return this.#report(outcome);
  }

  #asking(signal: AbortSignal): Asking | null {
    if (this.#flags.ask !== true) return null;
    const ask = asking(this.#io, (question) => this.#display.question(question), signal);
    if (ask.ask === undefined) {
      this.#io.err.line(
        "--ask: there is no terminal to ask on, so every tool that isn't read-only is denied",
      );
    }
    return ask;
  }

  /** Also when quiet: who pressed Ctrl-C must know that it was heard. */
  #announce(what: string): void {
    const text = oneLine(what);
    if (this.#flags.quiet === true) this.#io.err.line(text);
    else this.#display.say(text);
  }

  #report(outcome: Outcome): ExitStatus {
    const { out, err } = this.#io;
    const { json, quiet, check } = this.#flags;
    const status = statusOf(outcome);
    if (json === true) out.line(harmlessJson(JSON.stringify(outcome)));
    else if (quiet === true) this.#display.answer(outcome.answer);
    if (quiet !== true || status !== 0) {
      for (const line of reportLines(outcome, check !== undefined, err.style)) err.line(line);
    }
    return status;
  }
}

/** 0 only if the model ended the run by itself, and no check says otherwise. */
function statusOf({ reason, verified }: Outcome): ExitStatus {
  const ended = reason === 'no_tool_calls' || reason === 'sentinel';
  return ended && verified !== false ? 0 : 1;
}

async function rootFolder(path: string): Promise<Root> {
  const found = await stat(path).catch(() => null);
  if (found === null || !found.isDirectory()) {
    throw new CommandError(`--root ${oneLine(path)}: there is no such folder; check the path`);
  }
  return new Root(await realpath(path));
}

async function toolFiles(files: readonly string[]): Promise<readonly SourcedTool[]> {
  const tools: SourcedTool[] = [];
  for (const file of files) tools.push(...(await loadTools(file)));
  return tools;
}

/** What the library would refuse is refused before a transcript is begun. */
function checked(options: RunOptions): void {
  try {
    prepare(options);
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    throw new CommandError(`the run can't be started: ${oneLine(problemOf(error))}`, {
      cause: error,
    });
  }
}
