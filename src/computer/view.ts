/**
 * What a brain is shown of an observation, and the record keeps: enough to decide on, within bounds.
 *
 * @module
 */
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../transcript/index.ts';
import { observationJson, type Observation, type ScreenElement } from './observation.ts';

/** A page may have any number of elements; a model reads so many of them, and scrolls for more. */
const MAX_ELEMENTS = 500;
const MAX_TEXT = 8000;
/**
 * Labels, kinds, values and states of all elements together, in UTF-16 units: each may take six bytes in a record, and
 * a result of a tool that is too large is lost whole. Where there are more, a kind, and the states of an element, have
 * what those of Chromium never need.
 */
const MAX_WORDS = 250_000;
const MAX_KIND = 32;
const MAX_STATES = 64;
const MAX_ADDRESS = 8000;

/**
 * The bounded view of an observation: of a long list, the part that begins at the top of the window. An index means
 * the element's place in the whole list.
 */
export function viewOf(observation: Observation): Observation {
  const { elements, text } = observation;
  const points = text.length <= MAX_TEXT ? text : firstPoints(text);
  const shown = points.length < text.length ? `${points}…` : text;
  const whole = { ...observation, text: shown, ...headOf(observation) };
  if (elements.length <= MAX_ELEMENTS) return { ...whole, elements: inBounds(elements) };
  const offset = Math.min(windowStart(elements), elements.length - MAX_ELEMENTS);
  const part = inBounds(elements.slice(offset, offset + MAX_ELEMENTS));
  return { ...whole, elements: part, ...(offset === 0 ? {} : { offset }) };
}

function headOf({ url, title }: Observation): Pick<Observation, 'url' | 'title'> {
  return {
    ...(url === undefined ? {} : { url: cutAt(url, MAX_ADDRESS) }),
    ...(title === undefined ? {} : { title: cutAt(title, MAX_ADDRESS) }),
  };
}

/** Elements whose words have room; where they haven't, labels and values have the same each. */
function inBounds(elements: readonly ScreenElement[]): readonly ScreenElement[] {
  if (elements.reduce((sum, element) => sum + lengthOf(element), 0) <= MAX_WORDS) return elements;
  const room = Math.floor(MAX_WORDS / elements.length / 2);
  return elements.map(({ value, states, ...element }) => ({
    ...element,
    label: cutAt(element.label, room),
    kind: cutAt(element.kind, MAX_KIND),
    ...(value === undefined ? {} : { value: cutAt(value, room) }),
    ...(states === undefined ? {} : { states: statesWithin(states) }),
  }));
}

function lengthOf({ label, kind, value = '', states = [] }: ScreenElement): number {
  const listed = states.reduce((sum, state) => sum + lengthIn(state), 0);
  return label.length + kind.length + value.length + listed;
}

/** A text in a list has quotes and a comma too. */
function lengthIn(state: string): number {
  return state.length + 3;
}

/** The first states, as many as there is room for. */
function statesWithin(states: readonly string[]): readonly string[] {
  let room = MAX_STATES;
  return states.filter((state) => (room -= lengthIn(state)) >= 0);
}

function cutAt(text: string, room: number): string {
  // Half a character can't be recorded.
  return text.length <= room ? text : `${text.slice(0, room - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/**
 * Where the window begins in a long list: the place with the fewest elements on the wrong side of it. A header that
 * stays in the window comes first in the list, a menu that is pushed out of it may come last.
 */
function windowStart(elements: readonly ScreenElement[]): number {
  let start = 0;
  // Elements before a place that are in the window or below, less those that are above.
  let [wrong, fewest] = [0, 0];
  for (const [at, { y, height }] of elements.entries()) {
    wrong += y + height > 0 ? 1 : -1;
    if (wrong < fewest) [fewest, start] = [wrong, at + 1];
  }
  return start;
}

function firstPoints(text: string): string {
  return Array.from(text.slice(0, 2 * MAX_TEXT))
    .slice(0, MAX_TEXT)
    .join('');
}

/** A view as a tool's value, where each element says its index. @param of how many elements there are in all. */
export function viewJson(view: Observation, of: number): JsonObject {
  const { elements, ...rest } = observationJson(view);
  const { offset = 0 } = view;
  const listed = isJsonArray(elements) ? elements : [];
  return {
    ...rest,
    elements: listed.map((element, at) => ({
      index: offset + at,
      ...(isJsonObject(element) ? element : {}),
    })),
    ...(of > listed.length ? { elements_left_out: of - listed.length } : {}),
  };
}

/** Reads a view back from a recorded value; null if it holds none. */
export function readView(value: JsonValue | undefined): Observation | null {
  if (!isJsonObject(value) || !isJsonArray(value['elements'])) return null;
  const { elements, text, url, title } = value;
  const listed = elements.filter(isJsonObject);
  const offset = Number(listed[0]?.['index'] ?? 0);
  return {
    elements: listed.map(readElement),
    ...(offset === 0 ? {} : { offset }),
    text: textOf(text),
    ...(typeof url === 'string' ? { url } : {}),
    ...(typeof title === 'string' ? { title } : {}),
  };
}

function readElement(element: JsonObject): ScreenElement {
  const { label, kind, x, y, width, height, value, states } = element;
  return {
    label: textOf(label),
    kind: textOf(kind),
    x: Number(x),
    y: Number(y),
    width: Number(width),
    height: Number(height),
    ...(typeof value === 'string' ? { value } : {}),
    ...(isJsonArray(states) ? { states: states.map(textOf) } : {}),
  };
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
