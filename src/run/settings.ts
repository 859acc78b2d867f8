/**
 * What a run is told, checked before anything happens.
 *
 * @module
 */
import { sha256Hex } from '#sha256';
import { type TranscriptStore } from '../store/store.ts';
import { canonicalJson, compareCodePoints, type JsonObject } from '../transcript/index.ts';
import { checkBudget, checkPrice, DEFAULT_BUDGET, type Budget } from './budget.ts';
import { systemClock, type Clock } from './clock.ts';
import { type Rules } from './decide.ts';
import { emitter, type Listeners, type RunEvent } from './events.ts';
import { type Model, type Price, type ToolSpec } from './model.ts';
import { type CheckResult, type StopReason } from './outcome.ts';
import { type Ask, type Permit } from './permit.ts';
import { compileInput, type CompiledInput } from './schema.ts';
import { checkTool, type AnyTool } from './tool.ts';

/** What a success check is given. It looks at the world; the answer is only what the model claims. */
export interface CheckRequest {
  readonly answer: string;
  readonly reason: StopReason;
  readonly signal: AbortSignal;
}

export type Check = (request: CheckRequest) => CheckResult | Promise<CheckResult>;

/** Limits on silence and on going round in circles. */
export interface Watchdog {
  /** Seconds until a model's first output. Default 600: long thinking is legitimate. */
  readonly firstOutput?: number;
  /** Seconds between two outputs of a model that streams. Default 300. */
  readonly betweenOutputs?: number;
  /** Repeats without a new successful result that count as a stall. Default 5. */
  readonly stallAfter?: number;
  /** What a stall does. Default `warn`: an event. */
  readonly onStall?: 'warn' | 'stop';
}

/** What a run is given. */
export interface RunOptions {
  readonly task: string;
  readonly model: Model;
  readonly tools?: readonly AnyTool[];
  /** Default {@link DEFAULT_BUDGET}. */
  readonly budget?: Budget;
  /** A path for a new file, or a store; default memory, which is gone with the run. */
  readonly transcript?: string | URL | TranscriptStore;
  readonly check?: Check;
  readonly signal?: AbortSignal;
  /** Given a clock, records hold times. Without, only deadlines use the machine's. */
  readonly clock?: Clock;
  readonly on?: Listeners;
  /** Instructions that come before the task. */
  readonly system?: string;
  /** The run ends at a turn whose text contains this. */
  readonly sentinel?: string;
  /** Whether the second landing of an equal call carries a note. Default true. */
  readonly repeats?: boolean;
  readonly permit?: Permit;
  readonly ask?: Ask;
  readonly watchdog?: Watchdog;
  /** The most output tokens of one turn, beside what the budget leaves. */
  readonly maxOutputTokens?: number;
  /**
   * The run's identity, recorded in its head. Idempotency keys are made of it: give one where tools hand
   * them to other systems, as two runs of the same task are otherwise the same run.
   */
  readonly runId?: string;
}

/** A tool, ready to be called. */
export interface ReadyTool extends CompiledInput {
  readonly tool: AnyTool;
}

/** The checked form of the options. */
export interface Settings {
  readonly task: string;
  readonly model: Model;
  readonly modelId: string;
  readonly tools: ReadonlyMap<string, ReadyTool>;
  readonly specs: readonly ToolSpec[];
  readonly manifest: string;
  readonly rules: Rules;
  readonly system: string | undefined;
  readonly repeats: boolean;
  readonly check: Check | undefined;
  readonly permit: Permit | undefined;
  readonly ask: Ask | undefined;
  readonly watchdog: Required<Watchdog>;
  readonly signal: AbortSignal | undefined;
  readonly clock: Clock;
  /** Whether records hold times. */
  readonly timed: boolean;
  readonly runId: string | undefined;
  readonly emit: ((event: RunEvent) => void) | undefined;
}

const OPTIONS: { readonly [K in keyof Required<RunOptions>]: true } = {
  task: true,
  model: true,
  tools: true,
  budget: true,
  transcript: true,
  check: true,
  signal: true,
  clock: true,
  on: true,
  system: true,
  sentinel: true,
  repeats: true,
  permit: true,
  ask: true,
  watchdog: true,
  maxOutputTokens: true,
  runId: true,
};

const WATCHDOG: Required<Watchdog> = {
  firstOutput: 600,
  betweenOutputs: 300,
  stallAfter: 5,
  onStall: 'warn',
};

/**
 * Checks the options of a run.
 *
 * @throws {TypeError | RangeError} with what is wrong and what would be right.
 */
export function prepare(options: RunOptions): Settings {
  checkOptions(options);
  const budget = checkBudget(options.budget ?? DEFAULT_BUDGET);
  const price = checkedPrice(options.model, budget);
  const watchdog = checkedWatchdog(options.watchdog);
  const tools = prepareTools(options.tools ?? []);
  const specs = [...tools.values()].map(({ tool, schema }) =>
    Object.freeze({ name: tool.name, description: tool.description, inputSchema: schema }),
  );
  return {
    task: options.task,
    model: options.model,
    modelId: options.model.id ?? 'custom',
    tools,
    specs: Object.freeze(specs),
    manifest: manifestText([...tools.values()]),
    rules: {
      budget,
      price,
      sentinel: options.sentinel,
      maxOutputTokens: options.maxOutputTokens,
      stopAfterRepeats: watchdog.onStall === 'stop' ? watchdog.stallAfter : undefined,
    },
    system: options.system,
    repeats: options.repeats ?? true,
    check: options.check,
    permit: options.permit,
    ask: options.ask,
    watchdog,
    signal: options.signal,
    clock: options.clock ?? systemClock,
    timed: options.clock !== undefined,
    runId: options.runId,
    emit: options.on === undefined ? undefined : emitter(options.on),
  };
}

function checkOptions(options: RunOptions): void {
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(OPTIONS, name)) {
      throw new TypeError(
        `unknown option '${name}'; the options are ${Object.keys(OPTIONS).join(', ')}`,
      );
    }
  }
  if (typeof options.model !== 'function') {
    throw new TypeError('model must be a function from request to reply, or an adapter');
  }
  checkText('task', options.task);
  for (const name of ['system', 'sentinel', 'runId'] as const) {
    const text = options[name];
    if (text !== undefined) checkText(name, text);
  }
  const { maxOutputTokens: cap } = options;
  if (cap !== undefined && (!Number.isSafeInteger(cap) || cap < 1)) {
    throw new RangeError(`maxOutputTokens must be a whole number of at least 1, got ${cap}`);
  }
}

function checkText(name: string, text: unknown): void {
  if (typeof text !== 'string' || text === '')
    throw new TypeError(`${name} must be a text, and not empty`);
  if (!text.isWellFormed()) {
    throw new TypeError(
      `${name} holds a lone surrogate, half a character, which can't be recorded`,
    );
  }
}

function checkedPrice(model: Model, budget: Budget): Price | undefined {
  const { price } = model;
  if (price !== undefined) checkPrice(price);
  if (budget.usd !== undefined && price === undefined) {
    throw new TypeError(
      `a usd budget needs the price of ${model.id ?? 'the model'}: give the model { price: { input, output } } in US dollars per million tokens`,
    );
  }
  return price;
}

function checkedWatchdog(given: Watchdog = {}): Required<Watchdog> {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(WATCHDOG, name)) {
      throw new TypeError(
        `unknown watchdog setting '${name}'; they are ${Object.keys(WATCHDOG).join(', ')}`,
      );
    }
    if (
      name === 'onStall'
        ? value !== 'warn' && value !== 'stop'
        : !(typeof value === 'number' && value > 0)
    ) {
      throw new RangeError(
        `watchdog.${name} must be ${name === 'onStall' ? "'warn' or 'stop'" : 'a number above 0'}`,
      );
    }
  }
  return { ...WATCHDOG, ...given };
}

function prepareTools(tools: readonly AnyTool[]): ReadonlyMap<string, ReadyTool> {
  if (!Array.isArray(tools)) throw new TypeError('tools must be an array of tools');
  const ready = new Map<string, ReadyTool>();
  for (const tool of tools) {
    checkTool(tool);
    if (ready.has(tool.name)) throw new TypeError(`two tools are named '${tool.name}'`);
    ready.set(tool.name, { tool, ...compileInput(tool) });
  }
  return ready;
}

/** What the head's `tools` hash covers: all of a tool that a model or a resumed run depends on. */
function manifestText(tools: readonly ReadyTool[]): string {
  return canonicalJson(
    tools.map(({ tool, schema }) => ({
      name: tool.name,
      description: tool.description,
      input_schema: schema,
      ...(tool.readOnly === true ? { read_only: true } : {}),
      ...(tool.idempotent === true ? { idempotent: true } : {}),
      ...(tool.parallel === false ? { parallel: false } : {}),
      ...(tool.repeatedWhen === undefined ? {} : { repeated_when: tool.repeatedWhen }),
      ...(tool.timeout === undefined ? {} : { timeout: tool.timeout }),
      ...(tool.maxResultBytes === undefined ? {} : { max_result_bytes: tool.maxResultBytes }),
    })),
  );
}

/**
 * The payload of the first record: the task, and the configuration that a replay or resume must have.
 * Whether repeats are noted isn't part of it, as a run without repeats is the same either way.
 */
export function headPayload(settings: Settings, stamp: JsonObject): JsonObject {
  const { rules, watchdog } = settings;
  const { price } = rules;
  return {
    content: settings.task,
    run: {
      format: 'hashtape/1',
      model: settings.modelId,
      tools: sha256Hex(settings.manifest),
      budget: snakeCase(rules.budget),
      ...(settings.runId === undefined ? {} : { id: settings.runId }),
      ...(settings.system === undefined ? {} : { system: settings.system }),
      ...(rules.sentinel === undefined ? {} : { sentinel: rules.sentinel }),
      ...(rules.maxOutputTokens === undefined ? {} : { max_output_tokens: rules.maxOutputTokens }),
      ...(price === undefined ? {} : { price: snakeCase(price) }),
      ...(rules.stopAfterRepeats === undefined ? {} : { stop_after_repeats: watchdog.stallAfter }),
    },
    ...stamp,
  };
}

function snakeCase(object: object): JsonObject {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    entries.map(([key, value]) => [
      key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}

/** The names of the tools there are, for messages. */
export function toolNames(tools: ReadonlyMap<string, ReadyTool>): string {
  return tools.size === 0 ? 'none' : [...tools.keys()].toSorted(compareCodePoints).join(', ');
}
