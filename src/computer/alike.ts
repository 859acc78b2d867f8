/**
 * Whether a decision is the recorded one, as far as the record spells it out. Pure.
 *
 * @module
 */
import { canonicalJson, isJsonObject, type JsonValue } from '../transcript/index.ts';
import { type Action } from './action.ts';
import { HIDDEN_KEY, isLetter } from './masked.ts';
import { HIDDEN } from './secrets.ts';

type Press = Extract<Action, { kind: 'press' }>;
type Type = Extract<Action, { kind: 'type' }>;

/** Whether actions are those that are recorded, one by one and whole. */
export function areAlike(given: readonly Action[], recorded: readonly Action[]): boolean {
  return (
    given.length === recorded.length &&
    recorded.every((each, at) => {
      const action = given[at];
      return action !== undefined && isAlike(action, each);
    })
  );
}

function isAlike(action: Action, recorded: Action): boolean {
  if (action.kind === 'press' && recorded.kind === 'press' && isUntoldKey(action, recorded))
    return true;
  if (action.kind === 'type' && recorded.kind === 'type' && isUntoldText(action, recorded)) {
    const { target, submit = false } = recorded;
    return fits({ ...action.target }, { ...target }) && (action.submit ?? false) === submit;
  }
  return fits(valueOf(action), valueOf(recorded));
}

function valueOf(action: Action): JsonValue {
  return JSON.parse(canonicalJson(action)) as JsonValue; // what JSON.parse makes
}

function isUntoldKey(action: Press, recorded: Press): boolean {
  return recorded.key === HIDDEN_KEY && isLetter(action.key);
}

/** A text that is spelled out is recorded by a name, also where it is that of a secret. */
function isUntoldText(action: Type, recorded: Type): boolean {
  return 'text' in action && 'secret' in recorded;
}

/** Whether a value is the recorded one, any words in place of a secret. */
function fits(value: JsonValue | undefined, recorded: JsonValue): boolean {
  if (typeof value === 'string' && typeof recorded === 'string') return fitsText(value, recorded);
  if (!isJsonObject(value) || !isJsonObject(recorded)) return value === recorded;
  const names = new Set([...Object.keys(value), ...Object.keys(recorded)]);
  return [...names].every((name) => {
    const part = recorded[name];
    return part !== undefined && fits(value[name], part);
  });
}

function fitsText(text: string, recorded: string): boolean {
  const [first = '', ...others] = recorded.split(HIDDEN);
  const last = others.pop();
  if (last === undefined) return text === recorded;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
