/**
 * What a brain decides in a rehearsal, in words: without what it types where a password may go. Words only: decisions are
 * compared as they are.
 *
 * @module
 */
import { describe, type Action, type Target } from './action.ts';
import { HIDDEN_KEY, isPlainField, isSecretKey } from './masked.ts';
import { type Observation } from './observation.ts';
import { Secrets } from './secrets.ts';

/** What stands for a text that is not spelled out. */
const UNTOLD = '…';
/** In UTF-16 units. */
const SAID_LENGTH = 300;

/** Puts decisions into words, and hides what it has once taken for a secret from then on. */
export class DecisionWords {
  readonly #secrets = new Secrets({});

  /** @param seen every observation of the record: a field that once was for passwords is always one. */
  constructor(seen: readonly Observation[]) {
    for (const observation of seen) this.#secrets.see(observation);
  }

  of(decided: readonly Action[] | string, shown: Observation): string {
    if (typeof decided === 'string') return cut(this.#secrets.hide(decided));
    const safe = decided.map((action) => this.#without(action, shown));
    return safe.map((action) => this.#secrets.hide(describe(action))).join('; ');
  }

  #without(action: Action, shown: Observation): Action {
    if (action.kind === 'press')
      return isSecretKey(action.key, shown, this.#secrets)
        ? { ...action, key: HIDDEN_KEY }
        : action;
    if (action.kind !== 'type' || 'secret' in action) return action;
    const { text, ...rest } = action;
    if (isPlainField(shown, placed(action.target, shown), this.#secrets)) return action;
    this.#secrets.nameOf(text);
    return { ...rest, secret: UNTOLD };
  }
}

/** A target in what is shown, which may begin further down. */
function placed(target: Target, { offset = 0 }: Observation): Target {
  return 'index' in target ? { index: target.index - offset } : target;
}

function cut(words: string): string {
  return words.length > SAID_LENGTH ? `${words.slice(0, SAID_LENGTH).toWellFormed()}…` : words;
}
