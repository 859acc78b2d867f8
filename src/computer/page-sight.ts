/**
 * Reads what was written in a page. Its scripts share the built-ins that wrote it, so it may be anything.
 *
 * @module
 */
import { isJsonArray, isJsonObject, type JsonValue } from '../transcript/index.ts';
import { type PageItem, type PageSight } from './observe-page.ts';
import { type FrameWindow } from './observe-page-shown.ts';
import { ScreenGoneError } from './screen.ts';

/** @throws {ScreenGoneError} if it isn't what a look at a page writes: such a page is no screen. */
export function readSight(json: unknown): PageSight {
  const sight = parsed(json);
  if (!isJsonObject(sight) || !isTexts(sight['texts']) || !isJsonArray(sight['items'])) {
    throw unreadable();
  }
  return { items: sight['items'].map(item), texts: sight['texts'] };
}

function parsed(json: unknown): JsonValue | undefined {
  try {
    return JSON.parse(String(json)) as JsonValue; // what JSON.parse makes
  } catch {
    return undefined;
  }
}

function item(value: JsonValue): PageItem {
  if (!isJsonObject(value)) throw unreadable();
  const { label, kind, node, frame, value: held, states } = value;
  const { x, y, width, height } = value;
  const isNamed = typeof label === 'string' && typeof kind === 'string';
  const isHeld = held === undefined || typeof held === 'string';
  const isStated = states === undefined || isTexts(states);
  if (!isNamed || !isHeld || !isStated) throw unreadable();
  return {
    label,
    kind,
    node: whole(node),
    ...(frame === undefined ? {} : { frame: frameWindow(frame) }),
    x: whole(x),
    y: whole(y),
    width: whole(width),
    height: whole(height),
    ...(held === undefined ? {} : { value: held }),
    ...(states === undefined ? {} : { states }),
  };
}

function frameWindow(value: JsonValue): FrameWindow {
  if (!isJsonObject(value) || !isJsonObject(value['port']) || !isJsonObject(value['scale']))
    throw unreadable();
  const { left, top, right, bottom } = value['port'];
  const { x, y } = value['scale'];
  return {
    port: { left: finite(left), top: finite(top), right: finite(right), bottom: finite(bottom) },
    scale: { x: finite(x), y: finite(y) },
    isStill: value['isStill'] === true,
  };
}

function finite(value: JsonValue | undefined): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw unreadable();
  return value;
}

function whole(value: JsonValue | undefined): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw unreadable();
  return value;
}

function isTexts(value: JsonValue | undefined): value is readonly string[] {
  return isJsonArray(value) && value.every((text) => typeof text === 'string');
}

function unreadable(): ScreenGoneError {
  return new ScreenGoneError(
    "the page can't be looked at: its scripts replace what is built into the browser (as Array.prototype.toJSON)",
  );
}
