/**
 * Repeats: noticing that a call and its result have been seen before, and saying so. Pure.
 *
 * A repeat is told to the model, never refused: polling a job is a loop of equal calls on purpose, and
 * only the model knows which it is doing.
 *
 * @module
 */
import { sha256Hex } from '#sha256';

/** One call with its result, as it is compared. */
export interface Landing {
  readonly tool: string;
  /** Canonical JSON of the arguments, or the model's own text where that was not a JSON object. */
  readonly arguments: string;
  /** The whole result before any cut: canonical JSON of the value, or the error. */
  readonly result: string;
  readonly ok: boolean;
  readonly comparedBy: 'result' | 'arguments';
}

/** How many times each distinct call has landed. One hash and one look-up a call, whatever the history. */
export class RepeatLedger {
  readonly #seen = new Map<string, number>();
  // A landing is asked for before its record is written, and added after: it is hashed once.
  #newest: { readonly landing: Landing; readonly key: string } | undefined;

  /** How often this call will have landed once it is added. */
  occurrences(landing: Landing): number {
    return (this.#seen.get(this.#keyOf(landing)) ?? 0) + 1;
  }

  /** Counts a landing; returns how often it has landed now. */
  add(landing: Landing): number {
    const count = this.occurrences(landing);
    this.#seen.set(this.#keyOf(landing), count);
    return count;
  }

  /**
   * The whole SHA-256 of every part, so that "exactly this result" is never said of another one. JSON
   * strings keep the parts apart.
   */
  #keyOf(landing: Landing): string {
    if (this.#newest?.landing === landing) return this.#newest.key;
    const { tool, comparedBy, result, ok } = landing;
    const compared = comparedBy === 'result' ? `${ok ? '+' : '-'}${result}` : '';
    const key = sha256Hex(`${JSON.stringify([comparedBy, tool, landing.arguments])}${compared}`);
    this.#newest = { landing, key };
    return key;
  }
}

/** The fingerprints of a landing, for the event: they tell equal from different and hold no value. */
export function fingerprints(landing: Landing): { argumentsHash: string; resultHash: string } {
  return {
    argumentsHash: sha256Hex(landing.arguments),
    resultHash: sha256Hex(`${landing.ok ? '+' : '-'}${landing.result}`),
  };
}

/** The landing that gets the note: the second, the first at which there is something to say. */
export const NOTED_OCCURRENCE = 2;

/**
 * What the model is told. It has to be true whatever came between the two calls, so it states what was
 * seen and leaves the conclusion to the reader.
 */
export function repeatNote(landing: Landing): string {
  const call = `This is the second time in this run that ${landing.tool} was called with exactly these arguments`;
  if (landing.comparedBy === 'arguments') {
    return `${call}. (For this tool only the arguments are compared, not the results.) If the first answer still stands, use it; otherwise change the arguments, or say what you are waiting for.`;
  }
  const gave = landing.ok ? 'gave exactly this result' : 'failed with exactly this error';
  return `${call} and ${gave}. Unless something else has changed in between, a further call will not tell you more: act on what you have, change the arguments, or say what you are waiting for.`;
}
