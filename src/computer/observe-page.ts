/// <reference lib="dom" />
/**
 * What is on a page, in reading order. Runs in the page.
 *
 * @module
 */
import { type ScreenElement } from './observation.ts';
import { PageClip } from './observe-page-clip.ts';
import { PageNames } from './observe-page-names.ts';
import { PageShown, type FrameWindow, type Surrounding } from './observe-page-shown.ts';
import { PageText } from './observe-page-text.ts';
import { type PageLimits } from './playwright-limits.ts';

/** One thing that was found: an element, or a frame whose own document is to be looked at. */
export interface PageItem extends ScreenElement {
  /** Its place among {@link PageView.nodes}. */
  readonly node: number;
  /** There for a frame. */
  readonly frame?: FrameWindow;
}

/** What was found, as it travels. */
export interface PageSight {
  readonly items: readonly PageItem[];
  /** The text, cut where the frames are: one part more than there are frames. */
  readonly texts: readonly string[];
}

/** An option of a list. */
export interface PageOption {
  readonly label: string;
  readonly value: string;
  readonly disabled: boolean;
}

interface Entry {
  readonly item: Omit<PageItem, 'node'>;
  readonly node: Element;
  /** Whether it is called what it was called. */
  readonly isSame: () => boolean;
  readonly modal: Element | undefined;
}

/** What is known of the elements around. */
interface Around {
  /** The modal dialog that it is in. */
  readonly modal: Element | undefined;
  /** Whether it is in something that is acted on as a whole. */
  readonly inControl: boolean;
  /** Whether it is what a field holds, which is a value, not a text of the page. */
  readonly inField: boolean;
  readonly cursor: string;
  readonly surrounding: Surrounding;
}

/**
 * The source of an expression that looks at a document and gives its {@link PageView}.
 *
 * @param frame of a document in a frame: the part of its window that is seen from outside.
 */
export function viewSource(limits: PageLimits, frame?: FrameWindow): string {
  const [view, names, shown, clip, text] = [PageView, PageNames, PageShown, PageClip, PageText].map(
    String,
  );
  const given = JSON.stringify(limits);
  const part = frame === undefined ? '' : `, ${JSON.stringify(frame)}`;
  const sight = `new (${shown})(new (${clip})()${part})`;
  return `new (${view})(new (${names})(${given}), ${sight}, new (${text})(${given}), ${given})`;
}

/**
 * One look at a document. It stays there and keeps the nodes, so that what was observed is what is acted on.
 *
 * A class, because its source is all that reaches the page: it refers to nothing but itself.
 */
export class PageView {
  /** A {@link PageSight} as JSON, which travels several times as fast. */
  readonly sight: string;
  readonly nodes: readonly Element[];
  readonly #checks: readonly (() => boolean)[];
  /** Regions that are read, not acted on. */
  readonly #read: ReadonlySet<string> = new Set(
    'alert alertdialog dialog heading img meter progressbar status'.split(' '),
  );
  /** Those that are nothing without a name. */
  readonly #named: ReadonlySet<string> = new Set('alert heading img status'.split(' '));
  readonly #names: PageNames;
  readonly #shown: PageShown;
  readonly #limits: PageLimits;
  readonly #text: PageText;
  #entries: Entry[] = [];
  /** How many elements each modal dialog has, and the page: none takes the room of another. */
  readonly #counts = new Map<Element | undefined, number>();
  readonly #modals: Element[] = [];

  constructor(names: PageNames, shown: PageShown, text: PageText, limits: PageLimits) {
    this.#names = names;
    this.#shown = shown;
    this.#text = text;
    this.#limits = limits;
    const around = {
      modal: undefined,
      inControl: false,
      inField: false,
      cursor: 'auto',
      surrounding: shown.top,
    };
    // Not all pages put all that they show into their body.
    for (const child of names.childrenOf(shown.root))
      if (names.isElement(child)) this.#walk(child, around);
    this.#keepTopmost();
    const entries = this.#entries.filter(
      (entry, place, all) => !this.#isEcho(entry, all[place + 1]),
    );
    this.nodes = entries.map(({ node }) => node);
    this.#checks = entries.map(({ isSame }) => isSame);
    const items = entries.map(({ item }, node) => ({ ...item, node }));
    const sight: PageSight = { items, texts: text.texts() };
    this.sight = JSON.stringify(sight);
    this.#entries = [];
  }

  /** Whether an element is in the page still, in the same role and by the same name: pages use nodes again for others. */
  isSame(place: number): boolean {
    return this.nodes[place]?.isConnected === true && this.#checks[place]?.() === true;
  }

  /** What lies over the middle of an element; '' if nothing does. */
  coverOf(place: number): string {
    const node = this.nodes[place];
    const hit = node === undefined ? null : this.#shown.hit(node);
    if (hit === null || node?.contains(hit) === true) return '';
    const named =
      hit.closest('[role=dialog], [role=alertdialog], dialog, [aria-label], [id]') ?? hit;
    const role = this.#names.roleOf(named) || `<${named.localName}>`;
    const name = this.#names.nameOf(named, role) || this.#names.nameOf(hit, 'generic');
    return name === '' ? role : `${role} ${JSON.stringify(this.#names.cut(name, 60))}`;
  }

  /** The options of a list; undefined if it is none of the browser's own. */
  optionsOf(place: number): PageOption[] | undefined {
    const node = this.nodes[place];
    if (!(node instanceof HTMLSelectElement)) return undefined;
    return Array.from(node.options, (option) => ({
      label: this.#names.nameOf(option, 'option'),
      value: option.value,
      disabled: option.matches(':disabled'),
    }));
  }

  /** From now on what the element holds is nobody's business. */
  markSecret(place: number): void {
    const node = this.nodes[place];
    if (node !== undefined) Reflect.set(node, this.#names.mark, true);
  }

  #walk(element: Element, around: Around): void {
    if (element.localName === 'script' || element.localName === 'style') return;
    if (!this.#names.isRendered(element)) {
      this.#addToggle(element, around);
      return;
    }
    const style = getComputedStyle(element);
    const box = this.#shown.boxOf(element);
    // What cannot be seen may hold what can: it may be placed elsewhere.
    const { own, inside } = this.#shown.enter(element, style, box, around.surrounding);
    const isSeen = style.visibility === 'visible' && this.#shown.isIn(box, own);
    if (!isSeen) this.#addToggle(element, around);
    const isHollow = !isSeen && this.#addHollow(element, around, box);
    const isModal =
      element.localName === 'dialog' && Element.prototype.matches.call(element, ':modal');
    if (isModal) this.#modals.push(element);
    const modal = isModal ? element : around.modal;
    this.#visit(
      element,
      { ...around, modal, surrounding: inside, inControl: around.inControl || isHollow },
      style,
      isSeen ? box : undefined,
    );
  }

  /** @param box where it is, if it is seen: its content may be in any case. */
  #visit(
    element: Element,
    around: Around,
    style: CSSStyleDeclaration,
    box: DOMRect | undefined,
  ): void {
    const isControl = box !== undefined && this.#add(element, around, style.cursor, box);
    if (element.localName === 'iframe' || element.localName === 'frame') {
      if (box !== undefined) this.#addFrame(element, around, box);
    } else if (!this.#names.opaque.has(element.localName)) {
      const inControl = around.inControl || isControl;
      const inField = around.inField || this.#names.isEditable(element);
      this.#content(element, { ...around, inControl, inField, cursor: style.cursor }, style);
    }
  }

  #content(element: Element, around: Around, style: CSSStyleDeclaration): void {
    const { modal } = around;
    const gap = this.#text.gapOf(style.display);
    this.#text.say(gap, modal);
    for (const child of this.#names.childrenOf(element)) {
      if (this.#names.isElement(child)) {
        if (child.localName === 'br') this.#text.say('\n', modal);
        else this.#walk(child, around);
      } else if (this.#names.isText(child) && this.#isSaid(child, element, around, style)) {
        this.#text.say(this.#text.asShown(child, style), modal);
      }
    }
    this.#text.say(gap, modal);
  }

  /** White space is, wherever it stands: else there were one word where there are two. */
  #isSaid(text: Text, parent: Element, around: Around, style: CSSStyleDeclaration): boolean {
    if (!/\S/u.test(text.data)) return true;
    if (around.inField) return false;
    if (parent instanceof HTMLDetailsElement && !parent.open) return false;
    return this.#shown.isRead(text, parent, around.surrounding, style);
  }

  /** Adds an element if it is one that counts; gives whether it is acted on as a whole. */
  #add(element: Element, around: Around, cursor: string, box: DOMRect): boolean {
    const role = this.#names.roleOf(element) || 'generic';
    const isControl = this.#names.interactive.has(role);
    const isRead = this.#read.has(role);
    const isActedOn = isControl || this.#isClickable(element, around, cursor);
    if (!isActedOn && (!isRead || around.inControl)) return false;
    // A list item with a handler is called what it holds.
    const label = this.#names.nameOf(element, isControl || isRead ? role : 'generic');
    if (label === '' && !isActedOn && this.#named.has(role)) return false;
    this.#push(element, element, { role, label, box, modal: around.modal });
    this.#addOptions(element, around, box);
    return isActedOn && role !== 'listbox';
  }

  /** What is editable, has a handler, or a hand over it that isn't its parent's already. */
  #isClickable(element: Element, around: Around, cursor: string): boolean {
    if (this.#names.isEditable(element)) return true;
    if (around.inControl || element.localName === 'label' || element === this.#shown.body)
      return false;
    if (this.#names.attribute(element, 'onclick') !== null) return true;
    const tab = this.#names.attribute(element, 'tabindex');
    if (tab !== null && Number(tab) >= 0) return true;
    return (
      cursor === 'pointer' &&
      around.cursor !== 'pointer' &&
      !Element.prototype.querySelector.call(element, 'input, select, label')
    );
  }

  /** A box that a page draws itself hides the browser's own and leaves its label to be clicked. */
  #addToggle(element: Element, { modal }: Around): void {
    if (!(element instanceof HTMLInputElement)) return;
    if (!['checkbox', 'radio', 'file'].includes(element.type)) return;
    const label = [...(element.labels ?? [])].find(
      (each) => this.#names.isRendered(each) && this.#shown.isShown(each),
    );
    if (label === undefined) return;
    const box = label.getBoundingClientRect();
    const role = this.#names.roleOf(element);
    this.#push(element, label, { role, label: this.#names.nameOf(element, role), box, modal });
  }

  /** A link may have no box of its own, only what it holds has: that is pressed in its place. */
  #addHollow(element: Element, { modal, inControl }: Around, { width, height }: DOMRect): boolean {
    const role = this.#names.roleOf(element);
    if (inControl || (width > 0 && height > 0) || !['link', 'button'].includes(role)) return false;
    const held = [...Element.prototype.querySelectorAll.call(element, '*')].find((each) =>
      this.#isSeen(each),
    );
    if (held === undefined) return false;
    const box = this.#shown.boxOf(held);
    this.#push(element, held, { role, label: this.#names.nameOf(element, role), box, modal });
    return true;
  }

  #isSeen(element: Element): boolean {
    const { visibility } = getComputedStyle(element);
    const isThere = visibility === 'visible' && this.#names.isRendered(element);
    return isThere && this.#shown.isShown(element);
  }

  /** The options of a closed list have no place of their own. */
  #addOptions(select: Element, { modal }: Around, box: DOMRect): void {
    if (!(select instanceof HTMLSelectElement)) return;
    for (const option of [...select.options].slice(0, this.#limits.options)) {
      const own = option.getBoundingClientRect();
      const label = this.#names.nameOf(option, 'option');
      this.#push(option, option, { role: 'option', label, box: own.height > 0 ? own : box, modal });
    }
  }

  #push(
    element: Element,
    node: Element,
    {
      role,
      label,
      box,
      modal,
    }: { role: string; label: string; box: DOMRect; modal: Element | undefined },
  ): void {
    const count = this.#counts.get(modal) ?? 0;
    if (count >= this.#limits.elements) return;
    this.#counts.set(modal, count + 1);
    const value = this.#names.valueOf(element, role);
    const item = {
      label,
      kind: role,
      x: Math.round(box.x),
      y: Math.round(box.y),
      width: Math.max(1, Math.round(box.width)),
      height: Math.max(1, Math.round(box.height)),
      ...(value === undefined ? {} : { value }),
      states: this.#names.statesOf(element),
    };
    const isPlain = !this.#names.interactive.has(role) && !this.#read.has(role);
    const isSame = this.#sameness(element, isPlain ? 'generic' : role, label);
    this.#entries.push({ item, node, isSame, modal });
  }

  /** @param named the role by which it was named. */
  #sameness(element: Element, named: string, label: string): () => boolean {
    const role = this.#names.roleOf(element);
    return () =>
      this.#names.roleOf(element) === role && this.#names.nameOf(element, named) === label;
  }

  /** The place of a frame is that of its document, inside border and padding. */
  #addFrame(node: Element, { modal, surrounding }: Around, box: DOMRect): void {
    // In one pixel nothing can be read.
    if (node.clientWidth <= 1 || node.clientHeight <= 1) return;
    const { left, top, ...frame } = this.#shown.frameOf(node, box, surrounding);
    const item = {
      label: this.#names.nameOf(node, 'iframe'),
      kind: 'iframe',
      x: Math.round(left),
      y: Math.round(top),
      width: Math.round(box.width),
      height: Math.round(box.height),
      states: this.#names.statesOf(node),
      frame: { ...frame, isStill: this.#names.attribute(node, 'scrolling') === 'no' },
    };
    const isSame = this.#sameness(node, 'iframe', item.label);
    this.#entries.push({ item, node, isSame, modal });
    this.#text.cut(modal);
  }

  /** What is behind a modal dialog can't be reached, and isn't read out. */
  #keepTopmost(): void {
    const topmost = this.#shown.topmostOf(this.#modals);
    if (topmost === undefined) return;
    this.#entries = this.#entries.filter(({ modal }) => modal === topmost);
    this.#text.keep(topmost);
  }

  /** Whether an element that is only read says just what the next one, inside it, says. */
  #isEcho({ item, node }: Entry, next: Entry | undefined): boolean {
    const isRead = this.#named.has(item.kind) || item.kind === 'generic';
    return (
      isRead && next !== undefined && next.item.label === item.label && node.contains(next.node)
    );
  }
}
