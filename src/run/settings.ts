/**
 * What a run is told, checked before anything happens.
 *
 * @module
 */
import { sha256Hex } from '#sha256';
import { canonicalJson, compareCodePoints, type JsonObject } from '../transcript/index.ts';
import { checkBudget, checkPrice, DEFAULT_BUDGET, type Budget } from './budget.ts';
import { systemClock, type Clock } from './clock.ts';
import { type Rules } from './decide.ts';
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
  readonly watchdog: WatchdogSettings;
  readonly signal: AbortSignal | undefined;
  readonly clock: Clock;
  /** Whether records hold times. */
  readonly timed: boolean;
  readonly runId: string | undefined;
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
