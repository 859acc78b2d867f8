/**
 * From what a brain says to what a screen does: reads actions, finds their targets and secrets.
 *
 * @module
 */
import { type Action, type ScreenAction } from './action.ts';
import { type Secrets } from './secrets.ts';
import { findMeant, type Screens } from './target.ts';

/** An action that acts on the screen; `done` and `refuse` don't. */
export type Deed = Exclude<Action, { kind: 'done' | 'refuse' }>;

/** Why an action can't be carried out. It is the model's to read. */
export class ActionError extends Error {
  override readonly name = 'ActionError';
}

const SCROLL_BY = 400;

/**
 * The action with its target found on the screen that is there now, and its secret looked up.
 *
 * @throws {ActionError} if the target isn't one element, or there is no such secret.
 */
export function aimed(action: Deed, screens: Screens, secrets: Secrets): ScreenAction {
  switch (action.kind) {
    case 'click':
    case 'double_click':
      return { kind: action.kind, ...place(action, screens) };
    case 'type': {
      const isSecret = 'secret' in action;
      const text = isSecret ? secretOf(action.secret, secrets) : action.text;
      const { submit = false } = action;
      return { kind: 'type', ...place(action, screens), text, submit, isSecret };
    }
    case 'select':
      return { kind: 'select', ...place(action, screens), option: action.option };
    case 'scroll':
      return { kind: 'scroll', direction: action.direction, by: action.by ?? SCROLL_BY };
    default:
      return action;
  }
}

function place(
  { target }: Extract<Deed, { target: unknown }>,
  screens: Screens,
): { index: number; byLabel?: true } {
  const found = findMeant(screens, target);
  if (found.ok) return { index: found.index, ...('label' in target ? { byLabel: true } : {}) };
  throw new ActionError(found.error);
}

function secretOf(name: string, secrets: Secrets): string {
  const secret = secrets.get(name);
  if (secret !== undefined) return secret;
  const known = secrets.names.map((key) => `'${key}'`).join(', ');
  throw new ActionError(
    `there is no secret '${name}' (${known === '' ? 'there are none' : `there is ${known}`})`,
  );
}
