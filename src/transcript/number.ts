/**
 * How the canonical form spells a number (docs/format.md §3.2).
 *
 * @module
 */

/** The canonical spelling of a finite JavaScript number: an integer below 1e21 in magnitude is digits. */
export function numberText(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return value === 0 ? '0' : String(value);
  return floatText(value);
}

/**
 * A double in Python's spelling (`float.__repr__`): the shortest digits that read back as the same
 * double; exponent form when the decimal exponent is below -4 or at least 16; otherwise positional with
 * a digit after the point. ECMAScript picks the same digits and only lays them out otherwise.
 */
export function floatText(value: number): string {
  const magnitude = Math.abs(value);
  if (magnitude === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  if (magnitude >= 1e-4 && magnitude < 1e16) {
    const text = String(value);
    return Number.isInteger(value) ? `${text}.0` : text;
  }
  const text = value.toExponential();
  // At least two digits of exponent: `1e-7` is written `1e-07`.
  return /[+-]\d$/.test(text) ? `${text.slice(0, -1)}0${text.slice(-1)}` : text;
}
