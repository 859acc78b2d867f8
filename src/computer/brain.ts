/**
 * Brains: who decides what is done on a screen. A model is asked as in any run; a function is made a model.
 *
 * @module
 */
import {
  ModelError,
  type Model,
  type ModelReply,
  type ModelRequest,
  type ReplyCall,
} from '../run/model.ts';
import { describeError } from '../run/result.ts';
import { type Usage } from '../run/usage.ts';
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from '../transcript/index.ts';
import { describe, type Action } from './action.ts';
import { type Observation } from './observation.ts';
import { readAction } from './read-action.ts';
import { type Stage, type Step } from './stage.ts';
import { findTarget } from './target.ts';

/** A plain function that decides. It is shown what is recorded, so that it decides the same in a rehearsal. */
export type BrainFunction = (
  observation: Observation,
  goal: string,
  history: readonly Step[],
  context: { readonly signal: AbortSignal },
) => Action | Promise<Action>;

/** A model (a function with an `id`, as adapters make it), or a plain function. */
export type Brain = Model | BrainFunction;

/** Whether a brain is a model. A plain model function needs an id to be told from a brain function. */
export function isModel(brain: Brain): brain is Model {
  return typeof (brain as Model).id === 'string';
}

/** A look costs nothing. */
const NOTHING: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };
const LOOK: ModelReply = {
  content: '',
  toolCalls: [{ name: 'look', arguments: {} }],
  usage: NOTHING,
};

/** A screen that can't be seen so often isn't asked for again. */
const MAX_BLIND = 3;

function lookReply({ blind }: Stage): ModelReply {
  if (blind >= MAX_BLIND) throw new ModelError(`the screen could not be seen ${blind} times`);
  return LOOK;
}

/** The model of an episode. It looks before the brain is asked for the first time, which is a turn of the run. */
export function episodeModel(brain: Brain, goal: string, stage: Stage): Model {
  if (!isModel(brain)) {
    const decide = async (request: ModelRequest): Promise<ModelReply> => {
      // A function sees nothing but what it is shown.
      if (stage.look === null || stage.stale) return lookReply(stage);
      return decided(await ask(brain, stage, goal, request));
    };
    return Object.assign(decide, { id: 'brain' });
  }
  const { id, price } = brain;
  const answer = async (request: ModelRequest): Promise<ModelReply> =>
    stage.look === null ? lookReply(stage) : withoutSecrets(await brain(request), stage);
  return Object.assign(answer, {
    ...(id === undefined ? {} : { id }),
    ...(price === undefined ? {} : { price }),
  });
}

async function ask(
  brain: BrainFunction,
  { look, history }: Stage,
  goal: string,
  { signal }: ModelRequest,
): Promise<Action> {
  if (look === null) throw new Error('the code here has a bug: nothing was looked at');
  let said: unknown;
  try {
    said = await brain(look.view, goal, [...history], { signal });
  } catch (error) {
    throw new ModelError(`the brain raised ${describeError(error)}`);
  }
  return actionOf(said);
}

/**
 * The action that a brain returned.
 *
 * @throws {ModelError} if it isn't one.
 */
export function actionOf(said: unknown): Action {
  let action: Action | string;
  try {
    action = readAction(said);
  } catch (error) {
    action = describeError(error); // a getter, or a proxy
  }
  if (typeof action !== 'string') return action;
  throw new ModelError(`the brain returned what isn't an action: ${action}`);
}

function decided(action: Action): ModelReply {
  const { kind, ...rest } = action;
  // What a tool call has flat: { label } or { index }.
  const { target, ...members } = { target: {}, ...rest };
  return {
    content: '',
    toolCalls: [{ name: kind, arguments: { ...target, ...members } }],
    usage: NOTHING,
  };
}

/** A text that a model would type into a password field goes by a name from here on: no record may hold it. */
function withoutSecrets(reply: ModelReply, stage: Stage): ModelReply {
  if (!Array.isArray(reply?.toolCalls)) return reply; // the loop says what is wrong with it
  const texts: string[] = [];
  const toolCalls = reply.toolCalls.map((call) => {
    const args = call?.name === 'type' ? argumentsOf(call) : null;
    const action = args === null ? '' : readAction({ ...args, kind: 'type' });
    if (args === null || typeof action === 'string' || !spellsPassword(action, stage)) return call;
    const { text: _text, ...rest } = args;
    const name = `typed-${stage.spelled.size + 1}`;
    stage.spelled.set(name, action.text);
    texts.push(action.text);
    return { ...call, arguments: { ...rest, secret: name } };
  });
  if (texts.length === 0) return reply;
  const { content, provider: _provider, ...rest } = reply;
  const clean = texts.reduce(
    (said, text) => (text === '' ? said : said.replaceAll(text, '•••')),
    content,
  );
  // What a provider wants back holds the call as it was written.
  return { ...rest, content: clean, toolCalls };
}

function argumentsOf({ arguments: given }: ReplyCall): JsonObject | null {
  const value: JsonValue | undefined = typeof given === 'string' ? parsed(given) : given;
  return isJsonObject(value) ? value : null;
}

function parsed(text: string): JsonValue | undefined {
  const read = parseJson(text);
  return read.ok ? read.value : undefined;
}

function spellsPassword(
  action: Action,
  { look }: Stage,
): action is Extract<Action, { kind: 'type'; text: string }> {
  if (action.kind !== 'type' || !('text' in action) || look === null) return false;
  const found = findTarget(look.view, action.target);
  return found.ok && look.view.elements[found.index]?.states?.includes('password') === true;
}

/** The action of a recorded call, in words; null for a look, or a call that is no action. */
export function recordedAction(
  name: string,
  args: JsonObject,
): { action: Action; said: string } | null {
  const action = readAction({ ...args, kind: name });
  return typeof action === 'string' ? null : { action, said: describe(action) };
}
