/// <reference lib="dom" />
/**
 * Which places of a page can be seen, now or by scrolling. Runs in the page.
 *
 * @module
 */
import { type Area, type PageClip } from './observe-page-clip.ts';

/** What is seen of a frame, in pixels of its own document. */
export interface FrameWindow {
  readonly port: Area;
  /** How much larger it is drawn. */
  readonly scale: Scale;
  /** Whether it is told not to scroll. */
  readonly isStill: boolean;
}

/** How much larger something is drawn than it is. */
interface Scale {
  readonly x: number;
  readonly y: number;
}

/** An element as what it holds sees it. */
export interface Surrounding {
  /** Where its content can be seen. */
  readonly area: Area;
  /** Cuts all that it holds, also what is placed elsewhere. */
  readonly mask: Area;
  readonly style: CSSStyleDeclaration;
  readonly outer: Surrounding | undefined;
}

/** Where an element itself can be seen, and its content. */
export interface Entered {
  readonly own: Area;
  readonly inside: Surrounding;
}

/**
 * What boxes cut off, and what lies where no scrolling leads.
 *
 * A class, because its source is all that reaches the page: it refers to nothing but itself.
 */
export class PageShown {
  readonly root: Element = this.#own('documentElement') ?? document.createElement('html');
  readonly body: Element | null = this.#own('body');
  /** What surrounds the body. */
  readonly top: Surrounding;
  readonly #clip: PageClip;
  /** What is seen of the window. */
  readonly #window: Area;
  readonly #everywhere: Area = {
    left: -Infinity,
    top: -Infinity,
    right: Infinity,
    bottom: Infinity,
  };
  readonly #nowhere: Area = { left: 0, top: 0, right: 0, bottom: 0 };
  /** The body, if the window has its overflow in its place. */
  readonly #unclipped: Element | null;
  readonly #range = new Range();
  /** What these match is over everything; not every browser knows each. */
  readonly #onTop: string = [':modal', ':popover-open', ':fullscreen']
    .filter((each) => CSS.supports(`selector(${each})`))
    .join();

  constructor(clip: PageClip, frame?: FrameWindow) {
    this.#clip = clip;
    this.#window = frame?.port ?? { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
    const { root, body } = this;
    const style = getComputedStyle(root);
    const isBodys = style.overflow === 'visible' && body !== null;
    this.#unclipped = isBodys ? body : null;
    const overflow = isBodys ? getComputedStyle(body).overflow : style.overflow;
    // A window scrolls unless it is told not to.
    const isStill = frame?.isStill === true;
    const kinds = isStill
      ? 'hidden'
      : overflow.replaceAll('visible', 'auto').replaceAll('clip', 'hidden');
    const scroller = this.#own('scrollingElement') ?? root;
    const scale = { x: 1, y: 1 };
    const area = this.#scrolled(scroller, style, { overflow: kinds, port: this.#window, scale });
    this.top = { area, mask: this.#everywhere, style, outer: undefined };
  }

  /** What the document has, not a picture or a form that is called so. */
  #own(name: 'documentElement' | 'body' | 'scrollingElement'): Element | null {
    const found: Element | null = Reflect.get(Document.prototype, name, document);
    return found;
  }

  /** Whether a part of a box can be seen. */
  isIn(box: DOMRect, area: Area): boolean {
    return this.#overlap(box, area, 0);
  }

  /** Whether a part of a text can be seen: more than a pixel of it, in a colour. */
  isRead(text: Text, parent: Element, around: Surrounding, style: CSSStyleDeclaration): boolean {
    if (style.visibility !== 'visible' || style.contentVisibility === 'hidden') return false;
    this.#range.selectNodeContents(text);
    if (!this.#overlap(this.#range.getBoundingClientRect(), around.area, 1)) return false;
    if (parent instanceof SVGElement) return this.#isDrawn(style);
    return !this.#isClear(style.webkitTextFillColor) || this.#isPainted(around);
  }

  /** A text of a drawing has a colour within, or around its letters. */
  #isDrawn({ fill, fillOpacity, stroke, strokeOpacity }: CSSStyleDeclaration): boolean {
    const isSeen = (paint: string, opacity: string): boolean =>
      paint !== 'none' && opacity !== '0' && !this.#isClear(paint);
    return isSeen(fill, fillOpacity) || isSeen(stroke, strokeOpacity);
  }

  #isClear(colour: string): boolean {
    return /^rgba\(.*, 0\)$|\/ 0\)$/u.test(colour);
  }

  /** Where an element is. Of a form, `element.getBoundingClientRect` is the field that is named so. */
  boxOf(element: Element): DOMRect {
    return Element.prototype.getBoundingClientRect.call(element);
  }

  /** What can be seen of an element, and of what is in it. */
  enter(element: Element, style: CSSStyleDeclaration, box: DOMRect, around: Surrounding): Entered {
    const { display, position } = style;
    // It has no box of its own.
    if (display === 'contents') return { own: around.area, inside: around };
    if (style.backfaceVisibility === 'hidden' && this.#isTurned(element, style))
      return { own: this.#nowhere, inside: this.#hidden(style, around) };
    let { area: own, mask } = around;
    if (position === 'absolute' || position === 'fixed') {
      // Dialogs and popovers that are open are cut by nothing around them.
      const isOnTop = this.#onTop !== '' && Element.prototype.matches.call(element, this.#onTop);
      if (isOnTop) mask = this.#everywhere;
      own = this.#common(mask, this.#placed(position, isOnTop ? undefined : around));
    }
    const cut = this.#clip.leaves(style, box);
    if (cut !== undefined) [own, mask] = [this.#common(own, cut), this.#common(mask, cut)];
    const area = this.#content(element, style, box, own);
    return { own, inside: { area, mask, style, outer: around } };
  }

  /** Whether an element can be seen that wasn't come upon yet. */
  isShown(element: Element): boolean {
    const around = this.#surrounding(this.#parentOf(element));
    const box = this.boxOf(element);
    return this.isIn(box, this.enter(element, getComputedStyle(element), box, around).own);
  }

  /** What is seen of a frame through its border, and where its document begins. */
  frameOf(
    node: Element,
    box: DOMRect,
    { area, style }: Surrounding,
  ): Omit<FrameWindow, 'isStill'> & { readonly left: number; readonly top: number } {
    const scale = this.#scaleOf(node, box);
    const inset = (side: 'Left' | 'Top'): number =>
      Number.parseFloat(style[`padding${side}`]) + Number.parseFloat(style[`border${side}Width`]);
    const left = box.left + inset('Left') * scale.x;
    const top = box.top + inset('Top') * scale.y;
    const whole = { left: 0, top: 0, right: node.clientWidth, bottom: node.clientHeight };
    const seen = {
      left: (area.left - left) / scale.x,
      top: (area.top - top) / scale.y,
      right: (area.right - left) / scale.x,
      bottom: (area.bottom - top) / scale.y,
    };
    return { left, top, scale, port: this.#common(whole, seen) };
  }

  /** What is on top in the middle of an element, as its own tree has it. */
  hit(element: Element): Element | null {
    const { left, top, width, height } = this.boxOf(element);
    const root = Node.prototype.getRootNode.call(element);
    const [x, y] = [left + width / 2, top + height / 2];
    if (root instanceof ShadowRoot) return root.elementFromPoint(x, y);
    return Document.prototype.elementFromPoint.call(document, x, y);
  }

  /** The one of several modal dialogs that is on top. */
  topmostOf(modals: readonly Element[]): Element | undefined {
    const isOnTop = (modal: Element): boolean => {
      const hit = this.hit(modal);
      return hit !== null && modal.contains(hit);
    };
    return modals.findLast(isOnTop) ?? modals.at(-1);
  }

  #surrounding(element: Element | null): Surrounding {
    if (element === null || element === this.root) return this.top;
    const around = this.#surrounding(this.#parentOf(element));
    const box = this.boxOf(element);
    return this.enter(element, getComputedStyle(element), box, around).inside;
  }

  #parentOf(element: Element): Element | null {
    const root = Node.prototype.getRootNode.call(element);
    const host = root instanceof ShadowRoot ? root.host : null;
    return element.assignedSlot ?? element.parentElement ?? host;
  }

  /** Where an element can be seen whose place isn't in the flow: what it is placed in may be further out. */
  #placed(position: string, around: Surrounding | undefined): Area {
    for (let each = around; each?.outer !== undefined; each = each.outer) {
      const isHolder = position === 'absolute' && each.style.position !== 'static';
      if (isHolder || this.#holdsFixed(each.style)) return each.area;
    }
    return position === 'fixed' ? this.#window : this.top.area;
  }

  /** Whether what is fixed is so to this element, not to the window. */
  #holdsFixed(style: CSSStyleDeclaration): boolean {
    const values = [
      style.transform,
      style.translate,
      style.rotate,
      style.scale,
      style.perspective,
      style.filter,
      style.backdropFilter,
    ];
    return (
      values.some((value) => value !== 'none' && value !== '') ||
      /paint|layout|strict|content/u.test(style.contain) ||
      /transform|perspective|filter/u.test(style.willChange) ||
      style.contentVisibility === 'auto'
    );
  }

  #hidden(style: CSSStyleDeclaration, outer: Surrounding): Surrounding {
    return { area: this.#nowhere, mask: this.#nowhere, style, outer };
  }

  /** Whether the back of an element is in front, as of a card that is turned. */
  #isTurned(element: Element, style: CSSStyleDeclaration): boolean {
    let matrix = this.#turnOf(style);
    for (let around = this.#parentOf(element); around !== null; around = this.#parentOf(around)) {
      const outer = getComputedStyle(around);
      if (outer.transformStyle !== 'preserve-3d') break;
      matrix = this.#turnOf(outer).multiply(matrix);
    }
    return matrix.m33 < 0;
  }

  #turnOf({ rotate, transform }: CSSStyleDeclaration): DOMMatrix {
    const own = new DOMMatrix(transform === 'none' ? '' : transform);
    if (rotate === 'none') return own;
    const parts = rotate.split(' ');
    const degrees = Number.parseFloat(parts.pop() ?? '');
    const [x = 0, y = 0, z = 1] =
      parts.length === 3
        ? parts.map(Number)
        : ['x', 'y', 'z'].map((axis) => Number((parts[0] ?? 'z') === axis));
    return new DOMMatrix().rotateAxisAngle(x, y, z, degrees).multiply(own);
  }

  /** A box that is painted by itself cuts off what it holds; one that is far from the window isn't laid out yet. */
  #overflowOf({ overflow, contain, contentVisibility }: CSSStyleDeclaration, box: DOMRect): string {
    const isAlone = /paint|strict|content/u.test(contain);
    const isLaidOut = contentVisibility === 'auto' && this.isIn(box, this.#window);
    return overflow === 'visible' && (isAlone || isLaidOut) ? 'clip' : overflow;
  }

  /** Where the content of an element can be seen. */
  #content(element: Element, style: CSSStyleDeclaration, box: DOMRect, own: Area): Area {
    const overflow = this.#overflowOf(style, box);
    if (overflow === 'visible' || element === this.#unclipped) return own;
    // To these it doesn't apply; drawings and frames are inline, and have a box.
    const isLine = /^(?:inline|table-(?:row|column|header|footer).*)$/u.test(style.display);
    if (isLine && !['svg', 'iframe'].includes(element.localName)) return own;
    const scale = this.#scaleOf(element, box);
    const port = this.#common(own, this.#portOf(element, box, scale));
    const [x, y = x] = overflow.split(' ');
    const [cutsX, cutsY] = [x !== 'visible', y !== 'visible'];
    // In one pixel nothing can be read.
    if (cutsX && port.right - port.left <= 1) return this.#nowhere;
    if (cutsY && port.bottom - port.top <= 1) return this.#nowhere;
    const { left, top, right, bottom } = this.#scrolled(element, style, { overflow, port, scale });
    return { ...own, ...(cutsX ? { left, right } : {}), ...(cutsY ? { top, bottom } : {}) };
  }

  /** How much larger an element is drawn than it is. */
  #scaleOf(element: Element, box: DOMRect): Scale {
    if (!(element instanceof HTMLElement)) return { x: 1, y: 1 };
    const [x, y] = [box.width / element.offsetWidth, box.height / element.offsetHeight];
    return { x: x || 1, y: y || 1 };
  }

  /** The inside of an element's border. */
  #portOf(element: Element, box: DOMRect, { x, y }: Scale): Area {
    const { clientLeft, clientTop, clientWidth, clientHeight } = element;
    const [left, top] = [box.left + clientLeft * x, box.top + clientTop * y];
    return { left, top, right: left + clientWidth * x, bottom: top + clientHeight * y };
  }

  /** What comes into a port by scrolling: nothing that is before the beginning. */
  #scrolled(
    element: Element,
    style: CSSStyleDeclaration,
    {
      overflow,
      port,
      scale,
    }: { readonly overflow: string; readonly port: Area; readonly scale: Scale },
  ): Area {
    const { scrollLeft, scrollTop, scrollWidth, scrollHeight } = element;
    const [x = '', y = x] = overflow.split(' ');
    let { left, top, right, bottom } = port;
    if (/auto|scroll/u.test(x) && scrollWidth > element.clientWidth) {
      const isReversed = style.direction === 'rtl' || style.writingMode.endsWith('rl');
      const isBackward = this.#isBackward(style, scrollLeft, isReversed);
      left -= scale.x * (isBackward ? scrollWidth : scrollLeft);
      right += scale.x * scrollWidth;
    }
    if (/auto|scroll/u.test(y) && scrollHeight > element.clientHeight) {
      const isBackward = this.#isBackward(style, scrollTop, false);
      top -= scale.y * (isBackward ? scrollHeight : scrollTop);
      bottom += scale.y * scrollHeight;
    }
    return { left, top, right, bottom };
  }

  /** Whether the beginning is at the other end, as in a list of messages. */
  #isBackward(style: CSSStyleDeclaration, scrolled: number, isReversed: boolean): boolean {
    return isReversed || scrolled < 0 || style.flexDirection.endsWith('reverse');
  }

  /** A text without a colour can be seen by its shadow, or as the shape of a background. */
  #isPainted(around: Surrounding): boolean {
    if (around.style.textShadow !== 'none') return true;
    for (let each: Surrounding | undefined = around; each !== undefined; each = each.outer) {
      if (/\btext\b/u.test(each.style.backgroundClip)) return true;
    }
    return false;
  }

  #common(one: Area, other: Area): Area {
    return {
      left: Math.max(one.left, other.left),
      top: Math.max(one.top, other.top),
      right: Math.min(one.right, other.right),
      bottom: Math.min(one.bottom, other.bottom),
    };
  }

  #overlap(box: DOMRect, area: Area, more: number): boolean {
    return (
      Math.min(box.right, area.right) - Math.max(box.left, area.left) > more &&
      Math.min(box.bottom, area.bottom) - Math.max(box.top, area.top) > more
    );
  }
}
