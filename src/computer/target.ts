/**
 * Finds the element that an action means.
 *
 * @module
 */
import { type Target } from './action.ts';
import { type Observation } from './observation.ts';

/** Where the element is, or why there is no one element that is meant. */
export type Found =
  | { readonly ok: true; readonly index: number }
  | { readonly ok: false; readonly error: string };

/** So many labels are named in an error. */
const NAMED = 12;

/** Finds an element by its place, or by its label: as it is written, else without regard to case and white space. */
export function findTarget({ elements }: Observation, target: Target): Found {
  if ('index' in target) {
    if (elements[target.index] !== undefined) return { ok: true, index: target.index };
    const range = elements.length === 0 ? 'there are no elements' : `0 to ${elements.length - 1}`;
    return { ok: false, error: `there is no element ${target.index} on the screen (${range})` };
  }
  const { label } = target;
  const exact = places(elements, (found) => found === label);
  const loose =
    exact.length > 0 ? exact : places(elements, (found) => plain(found) === plain(label));
  // A dialog, its heading and its button may all be called the same: the button is meant.
  const controls = loose.filter((place) => !PASSIVE.has(elements[place]?.kind ?? ''));
  const [index, ...others] = controls.length === 1 ? controls : loose;
  if (index !== undefined && others.length === 0) return { ok: true, index };
  if (index !== undefined) {
    const all = loose.map((place) => `${place} (${elements[place]?.kind ?? ''})`).join(', ');
    return {
      ok: false,
      error: `${loose.length} elements are labelled ${JSON.stringify(label)}: ${all}; say which by its index`,
    };
  }
  const labels = [...new Set(elements.map((element) => element.label))].filter(
    (known) => known !== '',
  );
  const known = labels
    .slice(0, NAMED)
    .map((name) => JSON.stringify(name))
    .join(', ');
  const more = labels.length > NAMED ? `, and ${labels.length - NAMED} more` : '';
  const there = known === '' ? 'nothing on the screen has a label' : `there is ${known}${more}`;
  return { ok: false, error: `nothing is labelled ${JSON.stringify(label)} (${there})` };
}

/** Roles of what nobody acts on. */
const PASSIVE: ReadonlySet<string> = new Set([
  'alert',
  'alertdialog',
  'dialog',
  'heading',
  'img',
  'status',
]);

function places(elements: Observation['elements'], is: (label: string) => boolean): number[] {
  return elements.flatMap(({ label }, place) => (is(label) ? [place] : []));
}

function plain(label: string): string {
  return label.normalize('NFKC').replaceAll(/\s+/gu, ' ').trim().toLowerCase();
}
