/**
 * Reads an action from what a brain returned, or from the arguments of a tool call.
 *
 * @module
 */
import { type JsonObject } from '../transcript/index.ts';
import { describe, type Action, type Direction, type Target } from './action.ts';

/** What each kind of action holds beside its target: the name, and what its value must be. */
type Fields = Readonly<Record<string, (value: unknown) => boolean>>;

const isText = (value: unknown): boolean => typeof value === 'string';
const isSomeText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isFlag = (value: unknown): boolean => value === undefined || typeof value === 'boolean';
const DIRECTIONS: ReadonlySet<unknown> = new Set<Direction>(['up', 'down', 'left', 'right']);

const KINDS: Readonly<Record<Action['kind'], { readonly aims: boolean; readonly fields: Fields }>> =
  {
    click: { aims: true, fields: {} },
    double_click: { aims: true, fields: {} },
    type: {
      aims: true,
      fields: {
        text: (value) => value === undefined || isText(value),
        secret: (value) => value === undefined || isSomeText(value),
        submit: isFlag,
      },
    },
    press: { aims: false, fields: { key: isSomeText } },
    select: { aims: true, fields: { option: isText } },
    scroll: {
      aims: false,
      fields: {
        direction: (value) => DIRECTIONS.has(value),
        by: (value) => value === undefined || isCount(value),
      },
    },
    wait: { aims: false, fields: { milliseconds: isCount } },
    navigate: { aims: false, fields: { url: isSomeText } },
    done: { aims: false, fields: { answer: isText } },
    refuse: { aims: false, fields: { reason: isText } },
  };

/** The kinds of actions. */
export const ACTION_KINDS = Object.keys(KINDS) as readonly Action['kind'][];

/** Reads an action; what is wrong with it is a text. Members that it doesn't know are passed over. */
export function readAction(value: unknown): Action | string {
  const { kind, ...rest }: { [member: string]: unknown } = Object(value);
  const known = ACTION_KINDS.find((name) => name === kind);
  if (known === undefined)
    return `kind is ${JSON.stringify(kind)?.slice(0, 40) ?? 'not there'}; the kinds are ${ACTION_KINDS.join(', ')}`;
  const { aims, fields } = KINDS[known];
  const wrong = Object.entries(fields).find(([name, holds]) => !holds(rest[name]));
  if (wrong !== undefined) return `${known}: ${wrong[0]} is missing, or of the wrong type`;
  const target = aims ? readTarget(rest) : undefined;
  if (aims && target === undefined) return `${known}: say which element by one of label and index`;
  if (known === 'type' && (rest['text'] === undefined) === (rest['secret'] === undefined))
    return 'type: give one of text and secret';
  const members = Object.keys(fields).filter((name) => rest[name] !== undefined);
  const said = Object.fromEntries(members.map((name) => [name, wellFormed(rest[name])]));
  // Every member was checked to be what this kind holds.
  return { kind: known, ...said, ...(target === undefined ? {} : { target }) } as Action;
}

/** `{ target: { label } }`, or flat as a tool call has it: `{ label }` or `{ index }`. */
function readTarget(rest: { readonly [member: string]: unknown }): Target | undefined {
  const { label, index }: { label?: unknown; index?: unknown } = Object(rest['target'] ?? rest);
  if (typeof label === 'string' && index === undefined) return { label: label.toWellFormed() };
  return isCount(index) && label === undefined ? { index: Number(index) } : undefined;
}

function wellFormed(value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}

/** An action, and in words. */
export interface RecordedAction {
  readonly action: Action;
  readonly said: string;
}

/** The action of a call; null for a look, or a call that is no action. */
export function recordedAction(name: string, args: JsonObject): RecordedAction | null {
  const action = readAction({ ...args, kind: name });
  return typeof action === 'string' ? null : { action, said: describe(action) };
}
