/**
 * A model that answers from a script: for tests, demonstrations and recorded conversations.
 *
 * @module
 */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { systemClock, type Clock } from '../run/clock.ts';
import {
  ModelError,
  type Message,
  type Model,
  type ModelReply,
  type ModelRequest,
  type Price,
} from '../run/model.ts';
import {
  isJsonArray,
  isJsonObject,
  parseJson,
  Verbatim,
  type JsonValue,
} from '../transcript/index.ts';
import { checkOptions, isObject, isString, MODEL_OPTIONS, orAbsent } from './options.ts';
import { isRecording, recordedTurns, type Recording } from './recording.ts';
import { wait } from './retry.ts';
import { readTurn, readTurns, ScriptError, type ReadTurn, type ScriptTurn } from './script.ts';

export { recordedTools, recordedTurns, type Recording } from './recording.ts';
export { ScriptError, type ScriptCall, type ScriptTurn } from './script.ts';

/** A function that makes each turn from the request and its number, from 0; undefined ends the script. */
export type ScriptFunction = (
  request: ModelRequest,
  index: number,
) => ScriptTurn | string | undefined | Promise<ScriptTurn | string | undefined>;

/** What a scripted model answers from; {@link parseScript} says what data may be. */
export type Script =
  | readonly (ScriptTurn | string)[]
  | { readonly turns: readonly (ScriptTurn | string)[] }
  | Recording
  | ScriptFunction;

/** Settings of a scripted model. */
export interface ScriptedOptions {
  /** The model's id is `scripted:` and this. Default `scripted`. */
  readonly name?: string;
  /** What a run with a cost budget charges. */
  readonly price?: Price;
  /** Whose time the turns' `delay` takes. Default: the machine's. */
  readonly clock?: Clock;
}

const OPTIONS = { name: ['a string', orAbsent(isString)], ...MODEL_OPTIONS } as const;

/** A request as it was when it was made. */
export type RequestSnapshot = Omit<ModelRequest, 'signal' | 'affords' | 'onWait' | 'onDelta'>;

/** A model that answers from a script. */
export interface ScriptedModel extends Model {
  readonly id: string;
  /** What it was asked, in order, turns that failed included. */
  readonly requests: readonly RequestSnapshot[];
  /**
   * Says that the run is over.
   *
   * @throws {Error} if turns are left that nobody asked for. A function leaves none.
   */
  finish(): void;
}

/**
 * A model that gives a script's turns in order, from the turn at which the first conversation stands. A request for which there is no turn throws
 * `ModelError`: a script that doesn't fit its run is never silently stretched.
 *
 * @param script turns (a string is a turn that says it), a function that makes them, or data as
 * {@link parseScript} takes it, so that a recorded conversation can be given as it is.
 * @throws {ScriptError} if it isn't one; {TypeError | RangeError} if an option isn't usable.
 */
export function scripted(script: Script, options: ScriptedOptions = {}): ScriptedModel {
  checkOptions('scripted', options, OPTIONS);
  const { name = 'scripted', price, clock = systemClock } = options;
  const turns = typeof script === 'function' ? null : parseScript(script);
  const turnAt = typeof script === 'function' ? made(script) : (index: number) => turns?.[index];
  const requests: RequestSnapshot[] = [];
  let begun = 0;
  const snapshot = snapshots();

  async function answer(request: ModelRequest): Promise<ModelReply> {
    // A resumed run's conversation has turns already: the script goes on behind them.
    if (requests.length === 0) begun = turnsIn(request, turns);
    const index = begun + requests.length;
    requests.push(snapshot(request));
    const turn = await turnAt(index, request);
    if (turn === undefined) {
      throw new ModelError(
        `the script has no turn left for request ${index + 1} (it keeps its place from run to run; make a model for each)`,
      );
    }
    return reply(turn, request, clock);
  }

  function finish(): void {
    const done = begun + requests.length;
    const next = turns?.[done];
    if (turns === null || next === undefined) return;
    const content = JSON.stringify((next.content ?? '').slice(0, 80));
    throw new Error(
      `${turns.length - done} of ${turns.length} scripted turns were not asked for; the next is turn ${done + 1}, ${content}`,
    );
  }

  const members = { id: `scripted:${name}`, requests, finish };
  return Object.assign(answer, members, price === undefined ? {} : { price });
}

/**
 * Reads a script from data, as `JSON.parse` gives it: `{ "turns": [ … ] }`, a list of turns, or a recorded
 * conversation in OpenAI's chat form (an array of messages, or an object that holds one as `messages` or
 * `traj`), of which {@link recordedTurns} are the turns.
 *
 * @throws {ScriptError} that begins with the path to what is wrong, as `turns[2].tool_calls[0].name: …`.
 */
export function parseScript(data: unknown): ReadTurn[] {
  if (isObject(data) && 'turns' in data) {
    const other = Object.keys(data).find((key) => key !== 'turns');
    if (other === undefined) return readTurns(data['turns'], 'turns');
    throw new ScriptError(`${other}: not a key of a script (known: turns)`);
  }
  if (isRecording(data)) return recordedTurns(data);
  if (Array.isArray(data)) return readTurns(data, 'turns');
  throw new ScriptError(
    'a script is {"turns": […]}, a list of turns, or recorded messages (a list, or under messages or traj)',
  );
}

/**
 * A scripted model from a JSON file, named after it. Arguments that are objects keep the spelling of
 * their numbers, as those of a model do.
 *
 * @throws {ScriptError} if the file can't be read, isn't JSON, has a key twice or isn't a script.
 */
export async function loadScript(
  path: string,
  options: ScriptedOptions = {},
): Promise<ScriptedModel> {
  const turns = await readFile(path, 'utf8')
    .then(turnsOf)
    .catch((error: unknown) => {
      throw new ScriptError(`${path}: ${problemWith(error)}`, { cause: error });
    });
  return scripted(turns, { name: basename(path), ...options });
}

function turnsOf(text: string): ReadTurn[] {
  const parsed = parseJson(text.replace(/^\uFEFF/, ''));
  if (!parsed.ok) throw new ScriptError(`not JSON: ${parsed.problem} (offset ${parsed.at})`);
  if (parsed.duplicate === null) return parseScript(withNumbers(parsed.value));
  const key = JSON.stringify(parsed.duplicate);
  throw new ScriptError(`the key ${key} comes twice; in arguments, a string can say that`);
}

/** The data with JavaScript's numbers everywhere but in arguments. */
function withNumbers(value: JsonValue): JsonValue {
  if (value instanceof Verbatim) return Number(value.text);
  if (isJsonArray(value)) return value.map(withNumbers);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      key === 'arguments' && isJsonObject(member) ? member : withNumbers(member),
    ]),
  );
}

function problemWith(error: unknown): string {
  if (error instanceof ScriptError) return error.message;
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  return code === 'ENOENT' ? 'there is no such file' : `can't be read (${code})`;
}

/** How many of the script's turns a conversation holds; others may stand between them, as an episode's looks do. */
function turnsIn({ messages }: ModelRequest, turns: readonly ReadTurn[] | null): number {
  let count = 0;
  for (const message of messages) {
    if (message.role !== 'assistant') continue;
    const turn = turns?.[count];
    if (turns === null || (turn !== undefined && isTurn(message, turn))) count += 1;
  }
  return count;
}

function isTurn(
  { content, toolCalls }: Extract<Message, { role: 'assistant' }>,
  turn: ReadTurn,
): boolean {
  const calls = turn.tool_calls ?? [];
  const isSame =
    calls.length === toolCalls.length && (turn.content ?? '').toWellFormed() === content;
  return isSame && calls.every(({ name }, at) => name.toWellFormed() === toolCalls[at]?.name);
}

/** The turns that a script's function makes. */
function made(
  script: ScriptFunction,
): (index: number, request: ModelRequest) => Promise<ReadTurn | undefined> {
  return async (index, request) => {
    const turn: unknown = await script(request, index);
    return turn === undefined ? undefined : readTurn(turn, `turns[${index}]`);
  };
}

async function reply(turn: ReadTurn, request: ModelRequest, clock: Clock): Promise<ModelReply> {
  const { content, tool_calls: calls, usage, stop, delay, error } = turn;
  if (delay !== undefined) {
    await wait(clock, delay, request.signal);
    if (request.signal.aborted) {
      throw new ModelError('the request was aborted', [
        { error: 'aborted', usage: null, streamed: 0 },
      ]);
    }
  }
  if (error !== undefined) {
    throw new ModelError(error, usage === undefined ? [] : [{ error, usage }]);
  }
  if (content) request.onDelta({ kind: 'text', text: content });
  return {
    content: content ?? '',
    toolCalls: calls ?? [],
    ...(usage === undefined ? {} : { usage }),
    ...(stop === undefined ? {} : { stop }),
  };
}

/**
 * Takes snapshots of requests. A conversation only grows, so its messages are kept once, and a snapshot
 * is how many there were: a run of n steps costs n, not n².
 */
function snapshots(): (request: ModelRequest) => RequestSnapshot {
  let log: Message[] = [];
  return ({ messages, tools, maxOutputTokens, secondsLeft }) => {
    // Messages are frozen objects made once, so the same ends are the same conversation.
    const last = log.length - 1;
    if (messages[0] !== log[0] || messages[last] !== log[last]) log = [];
    log.push(...messages.slice(log.length));
    const kept = log;
    const { length } = messages;
    return {
      get messages() {
        return kept.slice(0, length);
      },
      tools,
      maxOutputTokens,
      secondsLeft,
    };
  };
}
