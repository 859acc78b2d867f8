/**
 * Keeps secrets that were typed out of what is observed afterwards.
 *
 * @module
 */
import { type Observation } from './observation.ts';

const HIDDEN = '[secret]';

/** A shorter one would blot out ordinary words; the field it was typed into is hidden in any case. */
const SHORTEST = 4;

/** An observation without the secrets, which a page may echo in its text or its address. */
export function hideSecrets(observation: Observation, secrets: ReadonlySet<string>): Observation {
  const spellings = [...secrets]
    .flatMap((secret) => (secret.length < SHORTEST ? [] : spellingsOf(secret)))
    // The longest first, as one may hold another.
    .toSorted((a, b) => b.length - a.length);
  if (spellings.length === 0) return observation;
  const hide = (text: string): string =>
    spellings.reduce((left, secret) => left.replaceAll(secret, HIDDEN), text);
  const { elements, text, url, title } = observation;
  return {
    elements: elements.map((element) => ({
      ...element,
      label: hide(element.label),
      ...(element.value === undefined ? {} : { value: hide(element.value) }),
    })),
    text: hide(text),
    ...(url === undefined ? {} : { url: hide(url) }),
    ...(title === undefined ? {} : { title: hide(title) }),
  };
}

/** As it is, and as addresses have it. */
function spellingsOf(secret: string): string[] {
  const inForm = new URLSearchParams({ '': secret }).toString().slice(1);
  return [secret, encodeURIComponent(secret.toWellFormed()), inForm];
}
