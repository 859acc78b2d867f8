/**
 * Finds the element that an action means.
 *
 * @module
 */
import { type Target } from './action.ts';
import { type Observation, type ScreenElement } from './observation.ts';

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

/** The screen that an action was decided on, and the one that is there when its turn comes. */
export interface Screens {
  readonly shown: Observation;
  readonly now: Observation;
}

/**
 * Finds what an action means where another of the same turn has changed the screen before it. An index means the
 * element that it had on the screen that was shown; a label may also mean what has come since.
 */
export function findMeant(screens: Screens, target: Target): Found {
  const { shown, now } = screens;
  if (shown === now) return findTarget(now, target);
  return 'index' in target ? meantByIndex(screens, target) : meantByLabel(screens, target);
}

function meantByIndex(screens: Screens, target: { readonly index: number }): Found {
  const { index } = target;
  const [before, after] = [screens.shown.elements[index], screens.now.elements[index]];
  if (before === undefined) return findTarget(screens.shown, target);
  if (isSameAs(screens, before, after)) return { ok: true, index };
  return { ok: false, error: became(`element ${index}`, before, after) };
}

function meantByLabel({ shown, now }: Screens, target: { readonly label: string }): Found {
  const here = findTarget(now, target);
  const meant = findTarget(shown, target);
  if (!meant.ok) {
    const isNew = !shown.elements.some(({ label }) => plain(label) === plain(target.label));
    return isNew ? here : meant;
  }
  const before = shown.elements[meant.index];
  if (!here.ok || before === undefined) return here;
  const after = now.elements[here.index];
  if (isAlike(before, after)) return here;
  return { ok: false, error: became(JSON.stringify(target.label), before, after) };
}

function became(name: string, before: ScreenElement, after: ScreenElement | undefined): string {
  const is = after === undefined ? 'not there' : words(after);
  return `${name} was ${words(before)} on the screen that this was decided on, and is ${is} by now`;
}

function words({ kind, label }: ScreenElement): string {
  return `${kind} ${JSON.stringify(label)}`;
}

/** Of several that are called the same, the index says which; it does so as long as nothing has moved. */
function isSameAs(
  { shown, now }: Screens,
  before: ScreenElement,
  after: ScreenElement | undefined,
): boolean {
  const isIt = (one: ScreenElement | undefined): boolean =>
    one?.label === before.label && isAlike(before, one);
  if (!isIt(after)) return false;
  const isOnly = [shown, now].every(({ elements }) => elements.filter(isIt).length === 1);
  const { elements } = now;
  const isUnmoved =
    shown.text === now.text &&
    shown.elements.length === elements.length &&
    shown.elements.every(({ label, kind }, at) => {
      const other = elements[at];
      return other?.label === label && other.kind === kind;
    });
  return isOnly || isUnmoved;
}

function isAlike(before: ScreenElement, after: ScreenElement | undefined): boolean {
  return after?.kind === before.kind && isHidden(after) === isHidden(before);
}

function isHidden({ states }: ScreenElement): boolean {
  return states?.includes('password') === true;
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
