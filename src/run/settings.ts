/**
 * What a run is told, checked before anything happens.
 *
 * @module
 */
import { compareCodePoints, type JsonObject } from '../transcript/index.ts';
import { checkBudget, checkPrice, DEFAULT_BUDGET, type Budget } from './budget.ts';
import { systemClock, type Clock } from './clock.ts';
import { manifestHash, type Configuration } from './configuration.ts';
import { emitter, type RunEvent } from './events.ts';
import { type Model, type Price, type ToolSpec } from './model.ts';
import {
  checkedWatchdog,
  checkOptions,
  type Check,
  type RunOptions,
  type WatchdogSettings,
} from './options.ts';
import { type Ask, type Permit } from './permit.ts';
import { checkedRules } from './redact-rules.ts';
import { compileInput, type CompiledInput } from './schema.ts';
import { checkTool, type AnyTool } from './tool.ts';

/** A tool, ready to be called. */
export interface ReadyTool extends CompiledInput {
  readonly tool: AnyTool;
}

/** The checked form of the options. */
export interface Settings {
  readonly task: string;
  readonly model: Model;
  readonly tools: ReadonlyMap<string, ReadyTool>;
  readonly specs: readonly ToolSpec[];
  readonly configuration: Configuration;
  readonly repeats: boolean;
  readonly check: Check | undefined;
  readonly permit: Permit | undefined;
  readonly ask: Ask | undefined;
  readonly watchdog: WatchdogSettings;
  readonly signal: AbortSignal | undefined;
  readonly clock: Clock;
  /** Whether records hold times. */
  readonly timed: boolean;
  readonly emit: ((event: RunEvent) => void) | undefined;
}

/**
 * Checks the options of a run.
 *
 * @throws {TypeError | RangeError} with what is wrong and what would be right.
 */
export function prepare(options: RunOptions): Settings {
  checkOptions(options);
  const budget = checkBudget(options.budget === undefined ? DEFAULT_BUDGET : options.budget);
  const price = checkedPrice(options.model, budget);
  const watchdog = checkedWatchdog(options.watchdog);
  const tools = prepareTools(options.tools ?? []);
  const manifest = [...tools.values()].map(manifestEntry);
  const specs = [...tools.values()].map(({ tool, schema }) =>
    Object.freeze({ name: tool.name, description: tool.description, inputSchema: schema }),
  );
  return {
    task: options.task,
    model: options.model,
    tools,
    specs: Object.freeze(specs),
    configuration: {
      model: options.model.id ?? 'custom',
      tools: manifestHash(manifest),
      manifest,
      budget,
      price,
      system: options.system,
      sentinel: options.sentinel,
      maxOutputTokens: options.maxOutputTokens,
      stopAfterRepeats: watchdog.onStall === 'stop' ? watchdog.stallAfter : undefined,
      runId: options.runId,
      checked: options.check !== undefined,
      permitted: options.permit !== undefined,
      redact: checkedRules(options.redact ?? [], new Set(tools.keys())),
    },
    repeats: options.repeats ?? true,
    check: options.check,
    permit: options.permit,
    ask: options.ask,
    watchdog,
    signal: options.signal,
    clock: checkedClock(options.clock ?? systemClock),
    timed: options.clock !== undefined,
    emit: options.on === undefined ? undefined : emitter(options.on),
  };
}

/** A time that no record can hold would end the run in its middle. */
function checkedClock(clock: Clock): Clock {
  if (!(Math.abs(clock.now()) <= MAX_TIME_MS))
    throw new RangeError('clock.now() must give milliseconds since 1970 that a Date can hold');
  return clock;
}

/** ECMA-262, "Time Values and Time Range". */
const MAX_TIME_MS = 8.64e15;

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

/** What a model or a resumed run depends on of a tool. */
function manifestEntry({ tool, schema }: ReadyTool): JsonObject {
  return {
    name: tool.name,
    description: tool.description,
    input_schema: schema,
    ...(tool.readOnly === true ? { read_only: true } : {}),
    ...(tool.idempotent === true ? { idempotent: true } : {}),
    ...(tool.parallel === false ? { parallel: false } : {}),
    ...(tool.ends === true ? { ends: true } : {}),
    ...(tool.repeatedWhen === undefined ? {} : { repeated_when: tool.repeatedWhen }),
    ...(tool.timeout === undefined ? {} : { timeout: tool.timeout }),
    ...(tool.maxResultBytes === undefined ? {} : { max_result_bytes: tool.maxResultBytes }),
  };
}

/** The names of the tools there are, for messages. */
export function toolNames(tools: ReadonlyMap<string, ReadyTool>): string {
  return tools.size === 0 ? 'none' : [...tools.keys()].toSorted(compareCodePoints).join(', ');
}
