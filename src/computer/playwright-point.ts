/// <reference lib="dom" />
/**
 * Where to press an element that others lie on, as the link in the label of a box, or the button on a card.
 *
 * @module
 */
import type { ElementHandle } from 'playwright-core';
import { type PageView } from './observe-page.ts';
import { type ScreenLimits } from './playwright-limits.ts';
import { type Place } from './playwright-observe.ts';

/** A point in CSS pixels, from inside the border of an element, as Playwright counts. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A point that shows none of the elements found within; undefined for the middle, and where there is none. */
export async function barePoint({
  node,
  place,
  limits,
}: {
  readonly node: ElementHandle<Element>;
  readonly place: Place;
  readonly limits: ScreenLimits;
}): Promise<Point | undefined> {
  try {
    if (!(await place.view.evaluate(hasOthers, place.node))) return undefined;
    await node.scrollIntoViewIfNeeded({ timeout: limits.actionMs });
    return await place.view.evaluate(pointOf, place.node);
  } catch {
    return undefined; // the press will say what is wrong
  }
}

/** Runs in the page: whether others were found within an element. */
function hasOthers({ nodes }: PageView, place: number): boolean {
  const node = nodes[place];
  return nodes.some((other) => other !== node && node?.contains(other) === true);
}

/** Runs in the page. */
function pointOf({ nodes }: PageView, place: number): Point | undefined {
  const node = nodes[place];
  if (node === undefined) return undefined;
  const root = node.getRootNode();
  const tree = root instanceof ShadowRoot ? root : document;
  const { left, top, width, height } = node.getBoundingClientRect();
  const isBare = ({ x, y }: Point): boolean => {
    let hit = tree.elementFromPoint(left + x, top + y);
    while (hit !== null && hit !== node && !nodes.includes(hit)) hit = hit.parentElement;
    return hit === node;
  };
  const shares = [0.5, 0.25, 0.75, 0.1, 0.9, 0.02, 0.98];
  const points = shares.flatMap((y) => shares.map((x) => ({ x: width * x, y: height * y })));
  const found = points.find(isBare);
  if (found === undefined || found === points[0]) return undefined;
  return { x: found.x - node.clientLeft, y: found.y - node.clientTop };
}
