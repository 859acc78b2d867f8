/**
 * A screen without a browser: scenes, and what leads from one to another.
 *
 * @module
 */
import { type ScreenAction } from '../computer/action.ts';
import { type Observation, type ScreenElement } from '../computer/observation.ts';
import { ScreenGoneError, type ActResult, type Screen } from '../computer/screen.ts';

/** An element of a scene; its place is made up where it has none. */
export type SceneElement = Pick<ScreenElement, 'label' | 'kind'> & Partial<ScreenElement>;

/** What a scene does when it is acted on: the next scene's name, a failure, or undefined to stay. */
export type Reaction = (
  action: ScreenAction,
  /** What is acted on, for actions that name an element. */
  element: ScreenElement | undefined,
) => string | { readonly error: string } | undefined | Promise<string | undefined>;

/** What a screen shows, and what it does. */
export interface Scene {
  readonly elements?: readonly SceneElement[];
  readonly text?: string;
  readonly url?: string;
  readonly on?: Reaction;
}

/** A screen that goes through scenes. */
export interface ScriptedScreen extends Screen {
  /** The name of the scene that is shown. */
  readonly scene: string;
  /** What was done, in order. */
  readonly acted: readonly ScreenAction[];
  /** Shows another scene, as a page does by itself. */
  show(name: string): void;
  /** As a browser that crashed: everything throws {@link ScreenGoneError} from here on. */
  crash(): void;
}

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * A screen that shows `scenes`, from the one named first.
 *
 * @throws {TypeError} if there is no scene of a name.
 */
export function scriptedScreen(
  scenes: Readonly<Record<string, Scene>>,
  start: string = Object.keys(scenes)[0] ?? '',
): ScriptedScreen {
  let current = sceneOf(scenes, start);
  let name = start;
  let isGone = false;
  const acted: ScreenAction[] = [];
  const show = (next: string): void => {
    current = sceneOf(scenes, next);
    name = next;
  };
  const requireThere = (): void => {
    if (isGone) throw new ScreenGoneError('the scripted screen was crashed');
  };
  return {
    get scene() {
      return name;
    },
    acted,
    show,
    crash() {
      isGone = true;
    },
    async observe() {
      requireThere();
      return observationOf(current);
    },
    async act(action): Promise<ActResult> {
      requireThere();
      acted.push(action);
      const element = 'index' in action ? observationOf(current).elements[action.index] : undefined;
      const next = await current.on?.(action, element);
      requireThere();
      if (typeof next === 'object') return { ok: false, error: next.error };
      if (next !== undefined) show(next);
      return { ok: true, summary: summaryOf(action, element) };
    },
    async screenshot() {
      requireThere();
      // The signature of a PNG, and the name in place of a picture.
      return Buffer.concat([PNG, Buffer.from(`scene ${name}`)]);
    },
  };
}

function sceneOf(scenes: Readonly<Record<string, Scene>>, name: string): Scene {
  const scene = Object.hasOwn(scenes, name) ? scenes[name] : undefined;
  if (scene !== undefined) return scene;
  const known = Object.keys(scenes).join(', ');
  throw new TypeError(`there is no scene '${name}' (there is ${known || 'none'})`);
}

function observationOf({ elements = [], text = '', url }: Scene): Observation {
  return {
    elements: elements.map((element, at) => ({
      x: 0,
      y: 20 * at,
      width: 100,
      height: 20,
      ...element,
    })),
    text,
    ...(url === undefined ? {} : { url }),
  };
}

function summaryOf(action: ScreenAction, element: ScreenElement | undefined): string {
  const on = element === undefined ? '' : ` ${JSON.stringify(element.label)}`;
  switch (action.kind) {
    case 'type':
      return `typed into${on}`;
    case 'select':
      return `selected ${JSON.stringify(action.option)} in${on}`;
    case 'click':
    case 'double_click':
      return `clicked${on}`;
    default:
      return action.kind;
  }
}
