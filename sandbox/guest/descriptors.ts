/**
 * Replaces `Object.defineProperty`, `Object.defineProperties` and `Object.create` in all of the guest's code, libraries included (`sandbox/build/buildChild.ts`): a
 * descriptor inherits nothing, so a source that sets `Object.prototype.get` doesn't change what is defined.
 */
const { defineProperty: define, ownKeys } = Reflect;
const { TypeError } = globalThis;
const { create } = Object;

export function defineProperty<T extends object>(
  target: T,
  key: PropertyKey,
  descriptor: PropertyDescriptor,
): T {
  if (define(target, key, { __proto__: null, ...descriptor } as PropertyDescriptor)) return target;
  throw new TypeError(`Cannot redefine property: ${String(key)}`);
}

/** @public used by the bundler */
export function defineProperties<T extends object>(target: T, descriptors: PropertyDescriptorMap): T {
  const keys = ownKeys(descriptors);
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] as PropertyKey;
    defineProperty(target, key, descriptors[key] as PropertyDescriptor);
  }
  return target;
}

/** @public used by the bundler */
export function createObject(prototype: object | null, descriptors?: PropertyDescriptorMap): object {
  const made = create(prototype) as object;
  return descriptors === undefined ? made : defineProperties(made, descriptors);
}
