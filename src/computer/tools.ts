/**
 * The actions of a screen as tools of a run. The loop, its budgets and its record are those of any run.
 *
 * @module
 */
import { type AnyTool } from '../run/tool.ts';
import { type JsonObject } from '../transcript/index.ts';
import { ActionError, type Deed } from './act.ts';
import { type Action } from './action.ts';
import { readAction } from './read-action.ts';
import { type Look, type Stage } from './stage.ts';
import { viewJson } from './view.ts';

const TEXT = { type: 'string' };
const COUNT = { type: 'integer', minimum: 0 };
const AIM = {
  label: { type: 'string', description: "the element's label, exactly as it is shown" },
  index: { ...COUNT, description: 'or its index, where a label is not unique' },
};

interface Kind {
  readonly kind: Action['kind'];
  readonly description: string;
  readonly properties: JsonObject;
  readonly required?: readonly string[];
}

const KINDS: readonly Kind[] = [
  { kind: 'click', description: 'Clicks an element.', properties: AIM },
  { kind: 'double_click', description: 'Clicks an element twice.', properties: AIM },
  {
    kind: 'type',
    description:
      'Replaces what a field holds by a text; for a password, give the name of a secret instead of the text.',
    properties: { ...AIM, text: TEXT, secret: TEXT, submit: { type: 'boolean' } },
  },
  {
    kind: 'press',
    description: 'Presses a key, as Enter, Escape, Tab, ArrowDown or Control+a.',
    properties: { key: TEXT },
    required: ['key'],
  },
  {
    kind: 'select',
    description: 'Chooses an option of a list by its label.',
    properties: { ...AIM, option: TEXT },
    required: ['option'],
  },
  {
    kind: 'scroll',
    description: 'Scrolls the page, by 400 pixels unless told otherwise.',
    properties: { direction: { enum: ['up', 'down', 'left', 'right'] }, by: COUNT },
    required: ['direction'],
  },
  {
    kind: 'wait',
    description: 'Waits, where a page is at work.',
    properties: { milliseconds: { ...COUNT, maximum: 60_000 } },
    required: ['milliseconds'],
  },
  {
    kind: 'navigate',
    description: 'Opens an address. Only some are allowed.',
    properties: { url: TEXT },
    required: ['url'],
  },
  {
    kind: 'done',
    description: 'Says that the goal is reached, and ends. It is checked whether that is so.',
    properties: { answer: TEXT },
    required: ['answer'],
  },
  {
    kind: 'refuse',
    description: 'Ends without reaching the goal, where it should not or can not be reached.',
    properties: { reason: TEXT },
    required: ['reason'],
  },
];

/** What a view may hold has room in this, whatever the characters. */
const MAX_RESULT_BYTES = 2 ** 21;
/** Of what is said at the end, in UTF-16 units. */
const MAX_SAID = 100_000;

/** The tools that act on a stage. @param timeout milliseconds that an action may take. */
export function screenTools(stage: Stage, timeout: number): AnyTool[] {
  return [lookTool(stage), ...KINDS.map((kind) => actionTool(stage, kind, timeout))];
}

function lookTool(stage: Stage): AnyTool {
  return {
    name: 'look',
    description: 'Shows what is on the screen now.',
    input: { type: 'object', properties: {}, additionalProperties: false },
    readOnly: true,
    parallel: false,
    maxResultBytes: MAX_RESULT_BYTES,
    execute: async (_args, { signal }) => shown(await stage.observe(signal)),
  };
}

function actionTool(
  stage: Stage,
  { kind, description, properties, required = [] }: Kind,
  timeout: number,
): AnyTool {
  return {
    name: kind,
    description,
    input: { type: 'object', properties, required, additionalProperties: false },
    parallel: false,
    timeout,
    maxResultBytes: MAX_RESULT_BYTES,
    ...(kind === 'done' || kind === 'refuse' ? { ends: true } : {}),
    async execute(args: JsonObject, { signal }) {
      const action = readAction({ ...args, kind });
      if (typeof action === 'string') {
        stage.refused({ name: kind, arguments: args }, action);
        throw new ActionError(action);
      }
      return carryOut(stage, action, signal);
    },
  };
}

async function carryOut(stage: Stage, action: Action, signal: AbortSignal): Promise<JsonObject> {
  if (action.kind === 'done' || action.kind === 'refuse') {
    const words = action.kind === 'done' ? action.answer : action.reason;
    // Before it is recorded as said: a result that has no room is none.
    if (words.length > MAX_SAID) {
      const why = `it has ${words.length} characters, of ${MAX_SAID} at most: say less`;
      stage.refused({ name: action.kind, arguments: { ...action } }, why);
      throw new ActionError(why);
    }
    await stage.say(action);
    return { [action.kind]: words };
  }
  const deed: Deed = action;
  const { summary, look } = await stage.act(deed, signal);
  return { did: summary, ...(look === null ? {} : shown(look)) };
}

function shown({ all, view, digest }: Look): JsonObject {
  return { screen: digest, observation: viewJson(view, all.elements.length) };
}
