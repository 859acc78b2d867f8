/**
 * Secrets: what may be typed, and may stand in no record, event or message.
 *
 * @module
 */
import { KnownTexts, spellingsOf } from '../run/known-texts.ts';
import { describeError } from '../run/result.ts';
import { isJsonArray, isJsonObject, type JsonValue } from '../transcript/index.ts';
import { hideCut } from './cut-secrets.ts';
import { type Observation } from './observation.ts';

/** What stands for a secret. */
export const HIDDEN = '[secret]';

/** A shorter one would blot out ordinary words; the value of the field it is typed into is hidden in any case. */
const SHORTEST = 3;

/** The secrets of one episode: those that were given, and those that a brain spelled out. */
export class Secrets {
  readonly #texts: Map<string, string>;
  /** Labels of fields that were seen to be for passwords: a page may show what is in them later. */
  readonly #fields = new Set<string>();
  /** The longest first, as one may hold another. */
  #hidden: Hidden[] = [];

  constructor(given: Readonly<Record<string, string>>) {
    this.#texts = new Map(Object.entries(given));
    this.#update();
  }

  get(name: string): string | undefined {
    return this.#texts.get(name);
  }

  get names(): string[] {
    return [...this.#texts.keys()];
  }

  /** The name of a text from here on. */
  nameOf(text: string): string {
    const known = [...this.#texts].find(([, value]) => value === text)?.[0];
    if (known !== undefined) return known;
    const name = `typed-${this.#texts.size + 1}`;
    this.#texts.set(name, text);
    this.#update();
    return name;
  }

  /** Remembers the password fields of what was seen. */
  see({ elements }: Observation): void {
    for (const { label, states } of elements)
      if (states?.includes('password') === true) this.#fields.add(label);
  }

  /** Whether an element is a password field, or was one. */
  isField({ label, states }: Observation['elements'][number]): boolean {
    return states?.includes('password') === true || this.#fields.has(label);
  }

  /** A text without the secrets. */
  hide(text: string): string {
    return this.#hidden
      .reduce((shown, secret) => shown.flatMap((part) => secret.cut(part)), [text])
      .join(HIDDEN);
  }

  /** What was thrown; where its message has a secret, an error that says the same without. */
  hideError(error: unknown): unknown {
    const said = describeError(error);
    const safe = this.hideShown(said);
    return safe === said ? error : new Error(safe);
  }

  /** A value without the secrets in its texts. */
  hideIn(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.hide(value);
    if (isJsonArray(value)) return value.map((member) => this.hideIn(member));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, this.hideIn(member)]),
    );
  }

  /** An observation without the secrets, which a page may echo anywhere. */
  hideOn(observation: Observation): Observation {
    if (this.#texts.size + this.#fields.size === 0) return observation;
    const { elements, text, url, title, notices } = observation;
    const whole = new Set([...this.#texts.values()].flatMap(formsOf));
    return {
      ...observation,
      elements: elements.map(({ value, ...element }) => ({
        ...element,
        label: this.hideShown(element.label),
        // A page may give a role of its own making.
        kind: this.hideShown(element.kind),
        // However short it is, and whoever typed it.
        ...(value === undefined || whole.has(value) || this.isField(element)
          ? {}
          : { value: this.hideShown(value) }),
      })),
      text: this.hideShown(text),
      ...(url === undefined ? {} : { url: this.hideShown(url) }),
      ...(title === undefined ? {} : { title: this.hideShown(title) }),
      ...(notices === undefined ? {} : { notices: notices.map((each) => this.hideShown(each)) }),
    };
  }

  /** A text of a screen without the secrets, and without what a cut has left of one. */
  hideShown(text: string): string {
    const long = [...this.#texts.values()].flatMap(formsOf).filter(isLong);
    return hideCut(this.hide(text), long, HIDDEN);
  }

  #update(): void {
    this.#hidden = [...new Set([...this.#texts.values()].flatMap(formsOf))]
      .filter(isLong)
      .toSorted((a, b) => b.length - a.length)
      .map((secret) => new Hidden(secret));
  }
}

function isLong({ length }: string): boolean {
  return length >= SHORTEST;
}

/** A secret as it is, and as fields and looks make it: without line breaks, with its white space folded or cut off. */
function formsOf(text: string): readonly string[] {
  const folded = text.replaceAll(/\s+/gu, ' ');
  const lines = text.replaceAll(/[^\S\n]+/gu, ' ').replaceAll(/ ?\n[ \n]*/gu, '\n');
  const forms = [text, folded, lines, text.replaceAll(/[\r\n]+/gu, '')];
  return [...new Set([...forms, ...forms.map((form) => form.trim())])];
}

/** One secret, looked for in texts. */
class Hidden {
  /** The usual ways of writing it, which are cut out. */
  readonly #spellings: readonly string[];
  /** All ways, in any mix, which can only be found. */
  readonly #known = new KnownTexts(SHORTEST);

  constructor(secret: string) {
    this.#spellings = [...spellingsOf(secret)].toSorted((a, b) => b.length - a.length);
    this.#known.learn(secret);
  }

  /** The parts of a text that may be shown; the secret stood between each two. */
  cut(text: string): readonly string[] {
    let shown: readonly string[] = [text];
    for (const spelling of this.#spellings) shown = shown.flatMap((part) => part.split(spelling));
    return shown.flatMap((part) => this.#cutFound(part));
  }

  /** What can't be cut out alone goes with the words that it stands in. */
  #cutFound(text: string): readonly string[] {
    if (!this.#known.isIn(text)) return [text];
    const words = text.split(/(\s+)/u);
    const shown: string[] = [];
    let from = 0;
    for (let found = this.#find(words, from); found !== undefined;) {
      shown.push(words.slice(from, found.begin).join(''));
      from = found.end;
      found = this.#find(words, from);
    }
    shown.push(words.slice(from).join(''));
    // What stands before a spelling may make another one of it.
    return shown.some((part) => this.#known.isIn(part)) ? ['', ''] : shown;
  }

  /** The fewest neighbouring words, from one on, that hold the secret first. */
  #find(words: readonly string[], from: number): { begin: number; end: number } | undefined {
    const isIn = (begin: number, end: number): boolean =>
      this.#known.isIn(words.slice(begin, end).join(''));
    // By doubling, so that many of them in a long text don't cost its length each.
    let far = 1;
    while (!isIn(from, from + far)) {
      if (from + far >= words.length) return undefined;
      far *= 2;
    }
    const length = firstOf(far, (n) => isIn(from, from + n));
    const end = from + length;
    return { begin: end - firstOf(length, (n) => isIn(end - n, end)), end };
  }
}

/** The smallest number from one on of which something is true, as it is of `known` and all above it. */
function firstOf(known: number, isTrue: (n: number) => boolean): number {
  let [below, first] = [0, known];
  while (below + 1 < first) {
    const middle = Math.floor((below + first) / 2);
    if (isTrue(middle)) first = middle;
    else below = middle;
  }
  return first;
}
