/**
 * Frozen copies of what a schema made of a call's arguments.
 *
 * @module
 */

/**
 * A copy whose plain objects and arrays are frozen, all the way down. A schema's output may hold the caller's own
 * objects (a default, a registry), which must stay as they are; what has a class of its own is not copied.
 * It does not recurse: a schema may nest its output as deep as it likes.
 *
 * @throws whatever a getter in it throws.
 */
export function frozenCopy(value: unknown): unknown {
  const copies = new Map<object, object>();
  const open: (readonly [object, object])[] = [];
  const copyOf = (part: unknown): unknown => {
    if (!isPlain(part)) return part;
    const known = copies.get(part);
    if (known !== undefined) return known; // shared, or a cycle
    const copy: object = Array.isArray(part) ? [] : Object.create(Object.getPrototypeOf(part));
    copies.set(part, copy);
    open.push([part, copy]);
    return copy;
  };
  const root = copyOf(value);
  // It grows while it is walked through.
  for (const [part, copy] of open) {
    for (const key of Object.keys(part)) {
      // Defined, not set: `__proto__` may be a key like any other.
      const member = copyOf(Reflect.get(part, key));
      Object.defineProperty(copy, key, { value: member, enumerable: true });
    }
    Object.freeze(copy);
  }
  return root;
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
