type Exports = Readonly<Record<string, unknown>>;

/** Puts an object's properties in the order of the given names, after `constructor`; the others follow. */
export function order<T extends object>(target: T, names: string): T {
  const all = Object.getOwnPropertyDescriptors(target) as PropertyDescriptorMap;
  // A function's own come first.
  const fixed = ["constructor", ...(typeof target === "function" ? ["length", "name"] : [])];
  for (const name of Object.keys(all))
    if (all[name]?.configurable && !fixed.includes(name)) delete (target as Record<string, unknown>)[name];
  const first = names.split(" ").filter((name) => Object.hasOwn(all, name));
  for (const name of new Set([...first, ...Object.keys(all)]))
    if (!Object.hasOwn(target, name)) Object.defineProperty(target, name, all[name] as PropertyDescriptor);
  return target;
}

/** Returns what has this path from `root`. */
export const at = (root: unknown, path: string): unknown =>
  path === "" ? root : path.split(".").reduce((target, key) => (target as Exports)[key], root);

/**
 * Gives functions the `length`, `name` and `prototype` that they have in Deno, by path from `root`. A path's text names its functions as
 * `key/length`, then `+` if the function has a prototype, `!` if it is enumerable, `=name` if its name isn't the key; a key alone says
 * nothing. Of an accessor these are its functions' name and prototype.
 */
export function shape(root: unknown, shapes: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(shapes)) {
    const target = at(root, path);
    for (const entry of text.split(" ")) {
      const [, key = "", length, plus, isListed, , name = key] =
        /^(\w+)\/(\d)(\+?)(!?)(=(.*))?$/.exec(entry) ?? [];
      if (length === undefined) continue;
      const own = Object.getOwnPropertyDescriptor(target, key);
      const { value, get, set }: PropertyDescriptor = { __proto__: null, ...own } as object;
      if (value) Object.defineProperty(value, "length", { value: Number(length), configurable: true });
      for (const one of [value, get, set].filter(Boolean)) {
        Object.defineProperty(one, "name", { value: name, configurable: true });
        if (plus) givePrototype(one as object);
      }
      if (isListed) Object.defineProperty(target, key, { enumerable: true });
    }
  }
}

/** Takes a function's name away. */
export const nameless = <T extends object>(value: T): T =>
  Object.defineProperty(value, "name", { value: "" });

/** Gives a function the `prototype` that it has in Deno, where it is no method. */
export function givePrototype<T extends object>(value: T): T {
  if (!Object.hasOwn(value, "prototype"))
    Object.defineProperty(value, "prototype", {
      value: Object.defineProperty({}, "constructor", { value, writable: true, configurable: true }),
      writable: true,
    });
  return value;
}
