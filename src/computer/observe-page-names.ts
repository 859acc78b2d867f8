/// <reference lib="dom" />
/**
 * What things on a page are called: roles, names, states and values. Runs in the page.
 *
 * @module
 */
import { type PageLimits } from './playwright-limits.ts';

/**
 * Roles, names, states and values of elements.
 *
 * A class, because its source is all that reaches the page: it refers to nothing but itself.
 */
export class PageNames {
  /** A field that a secret was typed into is marked with this. */
  readonly mark: symbol = Symbol.for('hashtape.secret');

  readonly interactive: ReadonlySet<string> = new Set(
    `button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio
    searchbox slider spinbutton switch tab textbox treeitem`.split(/\s+/u),
  );
  /** What these hold is their name. */
  readonly #fromContent: ReadonlySet<string> = new Set(
    `alert button checkbox generic heading link menuitem menuitemcheckbox menuitemradio option
    radio status switch tab treeitem`.split(/\s+/u),
  );
  /** Those of WAI-ARIA. A page may write anything else, which means nothing. */
  readonly #roles: ReadonlySet<string> = new Set(
    `alert alertdialog application article banner blockquote button caption cell checkbox code
    columnheader combobox comment complementary contentinfo definition deletion dialog directory
    document emphasis feed figure form generic grid gridcell group heading image img insertion link
    list listbox listitem log main mark marquee math menu menubar menuitem menuitemcheckbox
    menuitemradio meter navigation none note option paragraph presentation progressbar radio
    radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton
    status strong subscript suggestion superscript switch tab table tablist tabpanel term textbox
    time timer toolbar tooltip tree treegrid treeitem`.split(/\s+/u),
  );
  /** What is in these is no text that is read. */
  readonly opaque: ReadonlySet<string> = new Set(
    `audio canvas clipPath datalist defs head iframe input marker mask noscript object pattern script
    select style symbol template textarea title video`.split(/\s+/u),
  );
  /** The role of a tag, and what the element must match to have it. */
  readonly #tags: Readonly<Record<string, readonly [role: string, selector?: string]>> = {
    a: ['link', '[*|href]'],
    area: ['link', '[href]'],
    button: ['button'],
    dialog: ['dialog'],
    h1: ['heading'],
    h2: ['heading'],
    h3: ['heading'],
    h4: ['heading'],
    h5: ['heading'],
    h6: ['heading'],
    img: ['img'],
    meter: ['meter'],
    option: ['option'],
    output: ['status'],
    progress: ['progressbar'],
    summary: ['button', 'details > summary'],
    svg: ['img', ':has(> title)'],
    textarea: ['textbox'],
  };
  readonly #inputs: Readonly<Record<string, string>> = {
    button: 'button',
    checkbox: 'checkbox',
    file: 'button',
    hidden: '',
    image: 'button',
    number: 'spinbutton',
    radio: 'radio',
    range: 'slider',
    reset: 'button',
    search: 'searchbox',
    submit: 'button',
  };
  readonly #limits: PageLimits;

  constructor(limits: PageLimits) {
    this.#limits = limits;
  }

  /** The first role that is given and known, else that of the tag; '' if neither says anything. */
  roleOf(element: Element): string {
    const roles = this.attribute(element, 'role')?.toLowerCase().split(/\s+/u) ?? [];
    const given = roles.find((role) => this.#roles.has(role)) ?? '';
    if (given === 'image') return 'img';
    const isPlain = given === 'none' || given === 'presentation';
    if (given !== '' && !isPlain) return given;
    const own = this.#ownRole(element);
    return isPlain && !this.interactive.has(own) ? '' : own;
  }

  /** The accessible name, on one line. */
  nameOf(element: Element, role: string): string {
    const sources: (() => string | null)[] = [
      () => this.#labelledBy(element),
      () => this.attribute(element, 'aria-label'),
      () => this.#nativeName(element),
      () => (this.#fromContent.has(role) ? this.textOf(element) : ''),
      () => this.attribute(element, 'title'),
      () => this.attribute(element, 'placeholder') ?? this.attribute(element, 'aria-placeholder'),
    ];
    for (const source of sources) {
      const name = this.#oneLine(source() ?? '');
      if (name !== '') return name;
    }
    return '';
  }

  /** What an element says of itself, in the order of the alphabet. */
  statesOf(element: Element): string[] {
    const aria = (name: string): boolean => this.attribute(element, `aria-${name}`) === 'true';
    const input = element instanceof HTMLInputElement ? element : undefined;
    const states: Readonly<Record<string, boolean>> = {
      busy: aria('busy'),
      checked: input === undefined ? aria('checked') : this.#isChecked(input),
      disabled: Element.prototype.matches.call(element, ':disabled') || aria('disabled'),
      expanded:
        aria('expanded') || Element.prototype.matches.call(element, 'details[open] > summary'),
      focused: this.#isFocused(element),
      invalid: this.#isInvalid(element),
      mixed: input?.indeterminate === true || this.attribute(element, 'aria-checked') === 'mixed',
      password: this.isSecret(element),
      pressed: aria('pressed'),
      readonly:
        Element.prototype.matches.call(element, 'input[readonly], textarea[readonly]') ||
        aria('readonly'),
      required: Element.prototype.matches.call(element, ':required') || aria('required'),
      selected: element instanceof HTMLOptionElement ? element.selected : aria('selected'),
    };
    return Object.keys(states).filter((name) => states[name]);
  }

  /** What a field holds; undefined for what is no field, and for a secret. */
  valueOf(element: Element, role: string): string | undefined {
    if (this.isSecret(element)) return undefined;
    const value = this.#fieldValue(element, role);
    return value === undefined ? undefined : this.cut(value.toWellFormed(), this.#limits.value);
  }

  isSecret(element: Element): boolean {
    if (Reflect.get(element, this.mark) === true) return true;
    const isSecret =
      element instanceof HTMLInputElement
        ? element.type === 'password' ||
          /\b(?:current|new)-password\b/u.test(element.autocomplete) ||
          this.#isDotted(element)
        : (element.localName === 'textarea' || this.isEditable(element)) && this.#isDotted(element);
    // A field that shows its password later, by whatever name, holds one still.
    if (isSecret) Reflect.set(element, this.mark, true);
    return isSecret;
  }

  /** The text of a node's content, as its name has it. */
  textOf(node: Node): string {
    let text = '';
    for (const child of this.childrenOf(node)) {
      if (text.length > 4 * this.#limits.value) break;
      if (this.isText(child)) text += child.data;
      else if (this.isElement(child)) text += this.#childText(child);
    }
    return text;
  }

  /** The children as they are rendered: of a shadow root, of a slot. */
  childrenOf(node: Node): Iterable<Node> {
    const shadowRoot: unknown = Reflect.get(node, 'shadowRoot');
    if (shadowRoot instanceof ShadowRoot) return shadowRoot.childNodes;
    if (node instanceof HTMLSlotElement) {
      const assigned = node.assignedNodes();
      if (assigned.length > 0) return assigned;
    }
    const children: Iterable<Node> = Reflect.get(Node.prototype, 'childNodes', node);
    return children;
  }

  /** An attribute. Of a form, `element.getAttribute` is the field that is named so. */
  attribute(element: Element, name: string): string | null {
    return Element.prototype.getAttribute.call(element, name);
  }

  /** Whether it is one, also if it was made in another frame. */
  isElement(node: Node): node is Element {
    return node instanceof Element || node.nodeType === 1;
  }

  isText(node: Node): node is Text {
    return node.nodeType === 3;
  }

  /** Whether an element is there to be seen; its children may be hidden by `visibility` still. */
  isRendered(element: Element): boolean {
    if (this.attribute(element, 'aria-hidden') === 'true') return false;
    if (this.attribute(element, 'inert') !== null) return false;
    if (Element.prototype.checkVisibility.call(element, { opacityProperty: true })) return true;
    return getComputedStyle(element).display === 'contents' && !this.#isSkipped(element);
  }

  /** Whether what has no box of its own is in a box that shows nothing of what it holds. */
  #isSkipped(element: Element): boolean {
    let child = element;
    let around = this.#parentOf(element);
    while (around !== null && getComputedStyle(around).display === 'contents')
      [child, around] = [around, this.#parentOf(around)];
    if (around === null) return false;
    if (getComputedStyle(around).contentVisibility === 'hidden') return true;
    const isClosed = around instanceof HTMLDetailsElement && !around.open;
    return isClosed && child !== around.querySelector(':scope > summary');
  }

  #parentOf(element: Element): Element | null {
    const root = Node.prototype.getRootNode.call(element);
    const host = root instanceof ShadowRoot ? root.host : null;
    return element.assignedSlot ?? element.parentElement ?? host;
  }

  /** The first `most` code points. */
  cut(text: string, most: number): string {
    if (text.length <= most) return text;
    const points = Array.from(text.slice(0, 2 * most + 2));
    return points.length > most ? `${points.slice(0, most - 1).join('')}…` : text;
  }

  /** Whether dots are shown in place of what it holds. */
  #isDotted(element: Element): boolean {
    const dots = getComputedStyle(element).getPropertyValue('-webkit-text-security');
    return (dots || 'none') !== 'none';
  }

  #ownRole(element: Element): string {
    if (element instanceof HTMLInputElement) return this.#inputRole(element);
    if (element instanceof HTMLSelectElement) {
      return element.multiple || element.size > 1 ? 'listbox' : 'combobox';
    }
    const known = Object.hasOwn(this.#tags, element.localName);
    const [role, selector] = (known ? this.#tags[element.localName] : undefined) ?? [];
    if (
      role !== undefined &&
      (selector === undefined || Element.prototype.matches.call(element, selector))
    )
      return role;
    return this.isEditable(element) ? 'textbox' : '';
  }

  #inputRole(input: HTMLInputElement): string {
    const role = this.#inputs[input.type] ?? 'textbox';
    return role === 'textbox' && input.hasAttribute('list') ? 'combobox' : role;
  }

  /** Only the root of what is editable: its children are too. */
  isEditable(element: Element): boolean {
    if (element === document.body && document.designMode === 'on') return true;
    const given = this.attribute(element, 'contenteditable');
    return given !== null && given.toLowerCase() !== 'false';
  }

  #labelledBy(element: Element): string {
    const root = Node.prototype.getRootNode.call(element);
    if (!(root instanceof Document || root instanceof ShadowRoot)) return '';
    const ids = (this.attribute(element, 'aria-labelledby') ?? '').split(/\s+/u);
    const parts = ids.map((id) => (id === '' ? null : root.getElementById(id)));
    return parts
      .map((part) =>
        part === null ? '' : (this.attribute(part, 'aria-label') ?? this.textOf(part)),
      )
      .join(' ');
  }

  #nativeName(element: Element): string {
    if (element instanceof HTMLInputElement) {
      const own = this.#buttonName(element);
      if (own !== '') return own;
    }
    if (element instanceof HTMLOptionElement) return element.label;
    if (element.localName === 'svg')
      return Element.prototype.querySelector.call(element, ':scope > title')?.textContent ?? '';
    if (['img', 'area'].includes(element.localName)) return this.attribute(element, 'alt') ?? '';
    const labels: unknown = Reflect.get(element, 'labels');
    if (!(labels instanceof NodeList)) return '';
    return [...labels].map((label) => this.textOf(label)).join(' ');
  }

  #buttonName({ type, value, alt }: HTMLInputElement): string {
    if (type === 'image') return alt || value || 'Submit';
    if (type === 'submit') return value || 'Submit';
    if (type === 'reset') return value || 'Reset';
    return type === 'button' ? value : '';
  }

  #childText(element: Element): string {
    if (this.opaque.has(element.localName)) return '';
    if (!this.isRendered(element)) return '';
    const { display, visibility } = getComputedStyle(element);
    const named = this.attribute(element, 'aria-label') ?? this.attribute(element, 'alt');
    const text = named ?? this.textOf(element);
    if (visibility !== 'visible' && element.children.length === 0) return '';
    return display.startsWith('inline') || display === 'contents' ? text : ` ${text} `;
  }

  #fieldValue(element: Element, role: string): string | undefined {
    if (element instanceof HTMLSelectElement) {
      return [...element.selectedOptions].map(({ label }) => label).join(', ');
    }
    if (element instanceof HTMLTextAreaElement) return element.value;
    if (element instanceof HTMLInputElement) {
      return ['button', 'checkbox', 'radio'].includes(role) ? undefined : element.value;
    }
    if (element instanceof HTMLProgressElement) {
      return element.hasAttribute('value') ? String(element.value) : undefined;
    }
    if (element instanceof HTMLMeterElement) return String(element.value);
    if (this.isEditable(element)) return this.textOf(element).trim();
    const now =
      this.attribute(element, 'aria-valuetext') ?? this.attribute(element, 'aria-valuenow');
    return now ?? undefined;
  }

  #isChecked(input: HTMLInputElement): boolean {
    if (input.type === 'checkbox' || input.type === 'radio') return input.checked;
    return input.getAttribute('aria-checked') === 'true';
  }

  #isFocused(element: Element): boolean {
    const root = Node.prototype.getRootNode.call(element);
    return (
      (root instanceof Document || root instanceof ShadowRoot) && root.activeElement === element
    );
  }

  #isInvalid(element: Element): boolean {
    const given = this.attribute(element, 'aria-invalid');
    if (given !== null && given !== '') return given !== 'false';
    // Not `:invalid`, which a field is before anybody has touched it.
    return Element.prototype.matches.call(element, ':user-invalid');
  }

  /** Control characters and the line breaks of Unicode would make two lines of one. */
  #oneLine(text: string): string {
    // Most names are plain already, which is told in a tenth of the time.
    if (/^[!-~]+(?: [!-~]+)*$/u.test(text)) return this.cut(text, this.#limits.label);
    const line = text
      .toWellFormed()
      .replaceAll(/[\s\p{Cc}\u2028\u2029]+/gu, ' ')
      .trim();
    return this.cut(line, this.#limits.label);
  }
}
