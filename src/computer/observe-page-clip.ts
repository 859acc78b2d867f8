/// <reference lib="dom" />
/**
 * What `clip-path` and `clip` leave of an element. Runs in the page.
 *
 * @module
 */

/** A part of the window, in CSS pixels from its left and top; it may reach beyond its edges. */
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/**
 * The boxes around the shapes that elements are cut to.
 *
 * A class, because its source is all that reaches the page: it refers to nothing but itself.
 */
export class PageClip {
  readonly #nothing: Area = { left: 0, top: 0, right: 0, bottom: 0 };

  /** What `clip-path` and `clip` leave of an element. */
  leaves(style: CSSStyleDeclaration, box: DOMRect): Area | undefined {
    const { clipPath, position } = style;
    if (clipPath !== 'none') return this.#path(clipPath, box);
    if (position !== 'absolute' && position !== 'fixed') return undefined;
    const sides = /^rect\((?<sides>.*)\)$/u.exec(style.clip)?.groups?.['sides']?.split(',');
    if (sides === undefined) return undefined;
    const [top = 0, right = 0, bottom = 0, left = 0] = sides.map((side, at) => {
      const isFar = at === 1 || at === 2;
      return side.trim() === 'auto' ? (isFar ? Infinity : -Infinity) : Number.parseFloat(side);
    });
    return {
      left: box.left + left,
      top: box.top + top,
      right: box.left + right,
      bottom: box.top + bottom,
    };
  }

  /** The box around a shape; undefined for one that isn't as simple. */
  #path(clipPath: string, box: DOMRect): Area | undefined {
    const { shape, given = '' } =
      /^(?<shape>[a-z]+)\((?<given>[^()]*)\)/u.exec(clipPath)?.groups ?? {};
    const x = (length = '0'): number => this.#length(length, box.width);
    const y = (length = '0'): number => this.#length(length, box.height);
    if (shape === 'circle' || shape === 'ellipse')
      return /^0(?:px|%)/u.test(given) ? this.#nothing : undefined;
    if (shape === 'inset') {
      const sides = given.replace(/ round .*$/u, '').split(' ');
      const [top, right = top, bottom = top, left = right] = sides;
      return {
        left: box.left + x(left),
        top: box.top + y(top),
        right: box.right - x(right),
        bottom: box.bottom - y(bottom),
      };
    }
    if (shape !== 'polygon') return undefined;
    const points = given.replace(/^(?:evenodd|nonzero),/u, '').split(',');
    const xs = points.map((point) => box.left + x(point.trim().split(' ')[0]));
    const ys = points.map((point) => box.top + y(point.trim().split(' ')[1]));
    return {
      left: Math.min(...xs),
      top: Math.min(...ys),
      right: Math.max(...xs),
      bottom: Math.max(...ys),
    };
  }

  #length(length: string, whole: number): number {
    const number = Number.parseFloat(length);
    return length.endsWith('%') ? (number * whole) / 100 : number;
  }
}
