/**
 * What was on a screen, and the digests that tie a step to it.
 *
 * @module
 */
import { sha256Hex } from '#sha256';
import { canonicalJson, type JsonObject } from '../transcript/index.ts';

/** Something on the screen that can be acted on, or read. */
export interface ScreenElement {
  /** The accessible name, on one line. */
  readonly label: string;
  /** The ARIA role, as `button` or `textbox`. */
  readonly kind: string;
  /** Whole CSS pixels from the left and the top of the window; beyond its edges before it is scrolled to. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** What a field holds. A password field's is never here. */
  readonly value?: string;
  /** `checked`, `disabled`, `expanded`, `password`, `selected` and the like, in the order of the alphabet. */
  readonly states?: readonly string[];
}

/** What a screen shows at one moment. */
export interface Observation {
  /** In reading order. An action names one by its place in this list. */
  readonly elements: readonly ScreenElement[];
  /** The text that is visible. */
  readonly text: string;
  /** Where a part of a long list is shown: the index of the first element in it. */
  readonly offset?: number;
  readonly url?: string;
  readonly title?: string;
  /**
   * What the screen itself says happened since the last look, as a dialog that was answered. A brain is shown it
   * before the text; a check finds it here, not in the text, as nothing of it is on the page.
   */
  readonly notices?: readonly string[];
}

/** An observation as a brain is shown it, and the record keeps it: what happened stands before the text. */
export function withNotices(observation: Observation): Observation {
  const { notices = [], text } = observation;
  if (notices.length === 0) return observation;
  const { notices: _said, ...seen } = observation;
  return { ...seen, text: [...notices, ...(text === '' ? [] : [text])].join('\n') };
}

/** The seed looks at so many code points of the text. */
const SEED_TEXT = 200;

/**
 * The digest of tiny_computer_agent, which audit logs hold: 16 hex digits over the elements' labels, kinds and
 * places and the first 200 code points of the text. Screens that differ elsewhere have the same one.
 *
 * @throws {CanonicalError} if a text holds a lone surrogate, or a number isn't finite.
 */
export function observationDigest({ elements, text }: Observation): string {
  const index = elements.map(({ label, kind, x, y, width, height }) => [
    label,
    kind,
    x,
    y,
    width,
    height,
  ]);
  const start = Array.from(text.slice(0, 2 * SEED_TEXT))
    .slice(0, SEED_TEXT)
    .join('');
  return sha256Hex(canonicalJson({ index, text: start })).slice(0, 16);
}

/**
 * The digest of all that was observed: SHA-256 of its canonical JSON, hex.
 *
 * @throws {CanonicalError} as {@link observationDigest} does.
 */
export function screenDigest(observation: Observation): string {
  return sha256Hex(canonicalJson(observationJson(observation)));
}

/** An observation as JSON, without what isn't there. */
export function observationJson({ elements, text, url, title }: Observation): JsonObject {
  return {
    elements: elements.map(elementJson),
    text,
    ...(url === undefined ? {} : { url }),
    ...(title === undefined ? {} : { title }),
  };
}

function elementJson(element: ScreenElement): JsonObject {
  const { label, kind, x, y, width, height, value, states } = element;
  return {
    label,
    kind,
    x,
    y,
    width,
    height,
    ...(value === undefined ? {} : { value }),
    ...(states === undefined || states.length === 0 ? {} : { states }),
  };
}
