/**
 * Brains: who decides what is done on a screen. A model is asked as in any run; a function is made a model.
 *
 * @module
 */
import { ModelError, type Model, type ModelReply, type ModelRequest } from '../run/model.ts';
import { describeError } from '../run/result.ts';
import { type Usage } from '../run/usage.ts';
import { type Action } from './action.ts';
import { masked } from './masked.ts';
import { type Observation } from './observation.ts';
import { readAction } from './read-action.ts';
import { type Stage, type Step } from './stage.ts';

/** A plain function that decides. It is shown what is recorded, so that it decides the same in a rehearsal. */
export type BrainFunction = (
  observation: Observation,
  goal: string,
  history: readonly PastStep[],
  context: { readonly signal: AbortSignal },
) => Action | Promise<Action>;

/** A step, as a brain is told of it. */
export type PastStep = Pick<Step, 'action' | 'said' | 'outcome' | 'ok'>;

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
      await recorded(stage, request);
      // A function sees nothing but what it is shown.
      if (stage.look === null || stage.stale) return lookReply(stage);
      stage.decide();
      return masked(decided(await ask(brain, stage, goal, request)), stage);
    };
    return Object.assign(decide, { id: 'brain' });
  }
  const { id, price } = brain;
  const answer = async (request: ModelRequest): Promise<ModelReply> => {
    await recorded(stage, request);
    if (stage.look === null) return lookReply(stage);
    stage.decide();
    return masked(await brain(request), stage);
  };
  return Object.assign(answer, {
    ...(id === undefined ? {} : { id }),
    ...(price === undefined ? {} : { price }),
  });
}

/** Who is asked is told of all that came before, and isn't asked where that ended the episode. */
async function recorded(stage: Stage, { signal }: ModelRequest): Promise<void> {
  await stage.recorded();
  signal.throwIfAborted();
}

async function ask(
  brain: BrainFunction,
  { look, history, secrets }: Stage,
  goal: string,
  { signal }: ModelRequest,
): Promise<Action> {
  if (look === null) throw new Error('the code here has a bug: nothing was looked at');
  let said: unknown;
  try {
    // Copies: whatever it does to them, it is the screen as it was seen that is acted on, and the record that stands.
    const [view, past] = structuredClone([look.view, history.map(pastStep)] as const);
    said = await brain(view, goal, past, { signal });
  } catch (error) {
    throw new ModelError(`the brain raised ${describeError(secrets.hideError(error))}`);
  }
  return actionOf(said);
}

function pastStep({ action, said, outcome, ok }: Step): PastStep {
  return { action, said, outcome, ok };
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
