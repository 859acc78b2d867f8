/**
 * What can be done on a screen, and the one line that says what was done.
 *
 * @module
 */
import { canonicalJson, type JsonObject } from '../transcript/index.ts';

/** An element, by its label or by its place in the observation that is decided on. */
export type Target = { readonly label: string } | { readonly index: number };

/** What a brain decides. */
export type Action =
  | { readonly kind: 'click' | 'double_click'; readonly target: Target }
  /** Replaces what a field holds. A secret is named, and its text is nowhere in the record. */
  | {
      readonly kind: 'type';
      readonly target: Target;
      readonly text: string;
      /** Press Enter afterwards. */
      readonly submit?: boolean;
    }
  | {
      readonly kind: 'type';
      readonly target: Target;
      readonly secret: string;
      readonly submit?: boolean;
    }
  /** A key or chord, as Playwright and the DOM name them: `Enter`, `Control+a`. */
  | { readonly kind: 'press'; readonly key: string }
  /** Chooses an option of a list by its label. */
  | { readonly kind: 'select'; readonly target: Target; readonly option: string }
  | {
      readonly kind: 'scroll';
      readonly direction: Direction;
      /** CSS pixels. */ readonly by?: number;
    }
  | { readonly kind: 'wait'; readonly milliseconds: number }
  | { readonly kind: 'navigate'; readonly url: string }
  /** The brain claims that the goal is reached. */
  | { readonly kind: 'done'; readonly answer: string }
  | { readonly kind: 'refuse'; readonly reason: string };

export type Direction = 'up' | 'down' | 'left' | 'right';

/** Where the element is. */
interface Aim {
  /** Its place in the newest observation. */
  readonly index: number;
  /**
   * There where it was named by its label: once it is gone, or is another, what is called the same may stand in for it.
   * One that was named by its place has no other name.
   */
  readonly byLabel?: true;
}

/** An action on a screen, its target found and its secret looked up. */
export type ScreenAction =
  | ({ readonly kind: 'click' | 'double_click' } & Aim)
  | ({
      readonly kind: 'type';
      readonly text: string;
      readonly submit: boolean;
      /** Whether the text is a secret, which no message may hold. */
      readonly isSecret: boolean;
    } & Aim)
  | { readonly kind: 'press'; readonly key: string }
  | ({ readonly kind: 'select'; readonly option: string } & Aim)
  | { readonly kind: 'scroll'; readonly direction: Direction; readonly by: number }
  | { readonly kind: 'wait'; readonly milliseconds: number }
  | { readonly kind: 'navigate'; readonly url: string };

/** So much of a text is said. */
const SAID_LENGTH = 80;

/** One line that is the same for the same action, and holds no secret. */
export function describe(action: Action): string {
  const { kind } = action;
  switch (kind) {
    case 'type':
      return typeWords(action);
    case 'press':
      return `press ${oneLine(action.key)}`;
    case 'select':
      return `select ${quoted(action.option)} in ${targetWords(action.target)}`;
    case 'scroll':
      return `scroll ${action.direction}${action.by === undefined ? '' : ` by ${action.by}`}`;
    case 'wait':
      return `wait ${action.milliseconds} ms`;
    case 'navigate':
      return `navigate to ${oneLine(action.url)}`;
    case 'done':
      return `done: ${quoted(action.answer)}`;
    case 'refuse':
      return `refuse: ${quoted(action.reason)}`;
    default:
      return `${kind} ${targetWords(action.target)}`;
  }
}

/** A call that is no action, in one line. */
export function describeCall(name: string, args: JsonObject): string {
  return `${oneLine(name)} ${oneLine(canonicalJson(args))}`;
}

function typeWords(action: Extract<Action, { kind: 'type' }>): string {
  const what = 'secret' in action ? `the secret ${quoted(action.secret)}` : quoted(action.text);
  const then = action.submit === true ? ', then Enter' : '';
  return `type ${what} into ${targetWords(action.target)}${then}`;
}

function targetWords(target: Target): string {
  return 'index' in target ? `#${target.index}` : quoted(target.label);
}

function quoted(text: string): string {
  return JSON.stringify(oneLine(text));
}

/** Line breaks, those of Unicode among them, would make two lines of one. */
function oneLine(text: string): string {
  const line = text
    .toWellFormed()
    .replaceAll(/[\s\u0085\u2028\u2029]+/gu, ' ')
    .trim();
  const points = Array.from(line.slice(0, 2 * SAID_LENGTH + 2));
  return points.length > SAID_LENGTH ? `${points.slice(0, SAID_LENGTH).join('')}…` : line;
}
