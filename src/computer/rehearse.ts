/**
 * `rehearse`: a brain decides again on what a recorded episode saw, with no screen, and is compared with it.
 *
 * @module
 */
import { withheld } from '../run/redacting.ts';
import { readVerified } from '../replay/read-verified.ts';
import { JournalError } from '../run/journal.ts';
import { systemClock } from '../run/clock.ts';
import { Cancellation, race } from '../run/deadline.ts';
import { type Message, type ModelRequest, type ReplyCall, type ToolSpec } from '../run/model.ts';
import { readHead } from '../run/payloads.ts';
import { foldRecord, type RunState } from '../run/state.ts';
import { type TranscriptStore } from '../store/store.ts';
import {
  canonicalJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type TranscriptRecord,
} from '../transcript/index.ts';
import { type Action } from './action.ts';
import { areAlike } from './alike.ts';
import { actionOf, isModel, type Brain, type PastStep } from './brain.ts';
import { type Observation } from './observation.ts';
import { ACTION_KINDS, readAction, recordedAction, type RecordedAction } from './read-action.ts';
import { readView } from './view.ts';
import { DecisionWords } from './decision-words.ts';

/** One turn's decision in a recorded episode, all its actions, and what the brain decides in its place. */
export interface Decision {
  /** The record that holds it. */
  readonly seq: number;
  readonly recorded: string;
  /** What the brain decides on the same observation after the same past, in words; or why it decides nothing. */
  readonly given: string;
  readonly same: boolean;
}

/** What a rehearsal found. */
export interface Rehearsal {
  readonly decisions: readonly Decision[];
  /** The first decision that is another, as an index into `decisions`; null if there is none. */
  readonly parted: number | null;
  /** The share of the recorded decisions that the brain decides alike, 0 to 1; 1 if there are none. */
  readonly score: number;
  /**
   * With a reference episode: how its decisions and those of the recorded one compare, place by place. `score` is
   * the places that are the same, out of the longer one's.
   */
  readonly reference?: {
    readonly decisions: readonly {
      readonly recorded: string | null;
      readonly reference: string | null;
    }[];
    readonly parted: number | null;
    readonly score: number;
  };
}

/** How a rehearsal is held. */
export interface RehearsalOptions {
  /** Another recorded episode, to compare decisions with. */
  readonly reference?: string | URL | TranscriptStore;
  readonly signal?: AbortSignal | undefined;
  /** Seconds that a decision may take; one that takes longer is none. Default 120. */
  readonly modelSeconds?: number;
}

/**
 * Asks a brain for each decision of a recorded episode, on what was recorded: the observation, the goal, the steps
 * before it. Nothing is done, and no screen is needed.
 *
 * @throws {JournalError} `unusable` if a transcript isn't of an episode, or doesn't verify.
 * @throws what the signal was aborted with.
 */
export async function rehearse(
  transcript: string | URL | TranscriptStore,
  brain: Brain,
  options: RehearsalOptions = {},
): Promise<Rehearsal> {
  const { modelSeconds = 120 } = options;
  if (!(modelSeconds > 0)) throw new RangeError('modelSeconds must be a number above 0');
  const scenes = await scenesOf(transcript);
  const words = new DecisionWords(scenes.map(({ observation }) => observation));
  const decisions: Decision[] = [];
  for (const scene of scenes) {
    const decided = await decideInTime(brain, scene, { ...options, modelSeconds });
    const same = typeof decided !== 'string' && areAlike(decided, actionsOf(scene));
    const given = words.of(decided, scene.observation);
    const { seq, said: recorded } = scene;
    decisions.push({ seq, recorded, given: same ? recorded : given, same });
  }
  const parted = decisions.findIndex(({ same }) => !same);
  const alike = decisions.filter(({ same }) => same).length;
  const { reference } = options;
  return {
    decisions,
    parted: parted === -1 ? null : parted,
    score: decisions.length === 0 ? 1 : alike / decisions.length,
    ...(reference === undefined ? {} : { reference: compare(scenes, await scenesOf(reference)) }),
  };
}

/** What was decided; or, in words, why nothing is. */
type Decided = readonly Action[] | string;

/** What a decision was taken on. */
interface Scene {
  readonly seq: number;
  readonly said: string;
  readonly goal: string;
  readonly observation: Observation;
  readonly actions: readonly RecordedAction[];
  readonly history: readonly PastStep[];
  readonly messages: readonly Message[];
  /** What a model is offered, and may say. */
  readonly tools: readonly ToolSpec[];
  readonly maxOutputTokens: number | undefined;
}

async function scenesOf(transcript: string | URL | TranscriptStore): Promise<Scene[]> {
  const { location, verdict, records, withheldFrom } = await readVerified(transcript);
  if (withheldFrom !== undefined) throw withheld(location, withheldFrom);
  const { fault } = verdict;
  if (fault?.reason === 'unreadable') throw unusable(location, `it can't be read: ${fault.detail}`);
  if (fault !== undefined && fault.reason !== 'torn_tail') {
    const where = `line ${fault.line}: ${fault.reason}: ${fault.detail}`;
    const hint =
      fault.line === 1 ? ' (is it a transcript? An audit log holds no observations)' : '';
    throw unusable(location, `it doesn't verify, so it isn't rehearsed: ${where}${hint}`);
  }
  const reader = new SceneReader();
  for (const record of records) reader.read(record);
  if (reader.isEpisode) return reader.scenes;
  throw unusable(location, 'it is not the record of an episode on a screen');
}

function actionsOf({ actions }: Scene): readonly Action[] {
  return actions.map(({ action }) => action);
}

function unusable(location: string, why: string): JournalError {
  return new JournalError('unusable', `${location}: ${why}`);
}

/** Goes through the records of an episode, and keeps what each decision was taken on. */
class SceneReader {
  readonly scenes: Scene[] = [];
  #observation: Observation | null = null;
  #goal = '';
  #tools: readonly ToolSpec[] = [];
  #state: RunState | null = null;
  readonly #history: PastStep[] = [];

  /** Whether it is a run on a screen, be it that it ended before the first look. */
  get isEpisode(): boolean {
    const names = new Set(this.#tools.map(({ name }) => name));
    return this.#observation !== null || ['look', ...ACTION_KINDS].every((name) => names.has(name));
  }

  read(record: TranscriptRecord): void {
    const { kind, seq, payload } = record;
    const messages = [...(this.#state?.messages ?? [])];
    const call = kind === 'tool' ? this.#state?.nextCall : undefined;
    this.#state = foldRecord(this.#state, record);
    // The fold has read it: an array would have been refused.
    const members = payload as JsonObject;
    if (kind === 'user') this.#begun(members);
    if (kind === 'assistant') this.#decided(seq, messages);
    if (call === undefined) return;
    this.#answered(recordedAction(call.name, call.arguments), members);
  }

  #begun(members: JsonObject): void {
    const { task, configuration } = readHead(members);
    this.#goal = task;
    this.#tools = (configuration?.manifest ?? []).map(specOf);
  }

  #decided(seq: number, messages: readonly Message[]): void {
    const actions = (this.#state?.turn?.calls ?? []).flatMap(
      (call) => recordedAction(call.name, call.arguments) ?? [],
    );
    // A look decides nothing; and before the first there is nothing to decide on.
    if (actions.length === 0 || this.#observation === null) return;
    const observation = this.#observation;
    const said = actions.map((one) => one.said).join('; ');
    const offered = {
      tools: this.#tools,
      maxOutputTokens: this.#state?.configuration.maxOutputTokens,
    };
    const scene = { seq, said, actions, goal: this.#goal, observation, messages, ...offered };
    this.scenes.push({ ...scene, history: [...this.#history] });
  }

  #answered(
    done: ReturnType<typeof recordedAction>,
    { ok, value, error, failure }: JsonObject,
  ): void {
    const shown: JsonValue | undefined = isJsonObject(value) ? value['observation'] : undefined;
    this.#observation = readView(shown) ?? this.#observation;
    // What was refused is a step that failed; what the run had ended before is none.
    if (done === null || failure === 'not_run') return;
    const did = isJsonObject(value) ? value['did'] : undefined;
    const why = typeof error === 'string' ? error.replace(RAISED, '').replace(HINT, '') : '';
    const outcome = ok !== true ? why : typeof did === 'string' ? did : ended(done.action);
    this.#history.push({ ...done, outcome, ok: ok === true });
  }
}

/** What the loop, and the stage, put round the reason of a failed action. */
const RAISED = /^tool '\w+' raised ActionError: /;
const HINT = /\. The screen has changed meanwhile: look at it$/;

function ended({ kind }: Action): string {
  return kind === 'done' ? 'claimed' : 'refused';
}

/** A tool as the model of the recorded run was offered it. */
function specOf({ name, description, input_schema: schema }: JsonObject): ToolSpec {
  return {
    name: typeof name === 'string' ? name : '',
    description: typeof description === 'string' ? description : '',
    inputSchema: isJsonObject(schema) ? schema : {},
  };
}

async function decideInTime(
  brain: Brain,
  scene: Scene,
  { signal, modelSeconds }: RehearsalOptions & { readonly modelSeconds: number },
): Promise<Decided> {
  signal?.throwIfAborted();
  const cancellation = new Cancellation();
  const milliseconds = modelSeconds * 1000;
  const limit = { clock: systemClock, signal, milliseconds, cancellation };
  const raced = await race(decide(brain, scene, cancellation.signal), limit);
  signal?.throwIfAborted();
  if (raced.ended === 'error') throw raced.error;
  if (raced.ended === 'value') return raced.value;
  return `it decides nothing within ${modelSeconds} s`;
}

async function decide(brain: Brain, scene: Scene, signal: AbortSignal): Promise<Decided> {
  const { observation, goal, history } = scene;
  try {
    if (isModel(brain)) return await asked(brain, scene, signal);
    return [actionOf(await brain(observation, goal, history, { signal }))];
  } catch (error) {
    return error instanceof Error ? error.message : 'it threw what is no error';
  }
}

async function asked(
  model: Extract<Brain, { id?: string }>,
  { messages, tools, maxOutputTokens }: Scene,
  signal: AbortSignal,
): Promise<Decided> {
  const request: ModelRequest = {
    messages,
    tools,
    maxOutputTokens,
    secondsLeft: undefined,
    signal,
    affords: () => true,
    onWait: () => undefined,
    onDelta: () => undefined,
  };
  const { toolCalls = [], content } = await model(request);
  const read = toolCalls.filter(({ name }) => name !== 'look').map(actionIn);
  // As of what was recorded, only what is an action counts.
  const given = read.filter((action) => typeof action !== 'string');
  const wrong = read.find((action) => typeof action === 'string');
  return given.length === 0 ? (wrong ?? `it says: ${content}`) : given;
}

/** The action that a call asks for; in words, where it is none. */
function actionIn(call: ReplyCall): Action | string {
  const given: unknown =
    typeof call.arguments === 'string' ? JSON.parse(call.arguments) : call.arguments;
  const action = readAction({ ...Object(given), kind: call.name });
  return typeof action === 'string' ? `it calls ${call.name}` : action;
}

function compare(
  ones: readonly Scene[],
  others: readonly Scene[],
): NonNullable<Rehearsal['reference']> {
  const length = Math.max(ones.length, others.length);
  const decisions = Array.from({ length }, (_, at) => ({
    recorded: ones[at]?.said ?? null,
    reference: others[at]?.said ?? null,
  }));
  const whole = (scene: Scene | undefined): string | undefined =>
    scene && canonicalJson(actionsOf(scene));
  const isAlike = (at: number): boolean => whole(ones[at]) === whole(others[at]);
  const parted = decisions.findIndex((_, at) => !isAlike(at));
  const alike = decisions.filter((_, at) => isAlike(at)).length;
  return {
    decisions,
    parted: parted === -1 ? null : parted,
    score: length === 0 ? 1 : alike / length,
  };
}
