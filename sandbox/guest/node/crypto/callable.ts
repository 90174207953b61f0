type Class = { new (...args: never[]): object; readonly prototype: object };

/** Gives a prototype these methods as its own, in this order, and no parent of ours. */
function ownMethods(prototype: object, names: string): void {
  const inherited = Object.getPrototypeOf(prototype) as object;
  for (const name of names.split(" ")) {
    const own = Object.getOwnPropertyDescriptor(prototype, name);
    const method = own ?? Object.getOwnPropertyDescriptor(inherited, name);
    Reflect.deleteProperty(prototype, name);
    Object.defineProperty(prototype, name, method as PropertyDescriptor);
  }
}

/**
 * Returns a class as Node's older ones are: it can be called without `new`. Its methods, listed as Deno has them, are its own, and its objects
 * keep the class's own name. They inherit from nothing, or are streams on demand, see `createLazyStream`. What is deprecated calls `warn`.
 */
export function callable(
  Type: Class,
  name: string,
  methods = "",
  toStream?: (own: object) => object,
  warn?: () => void,
): new (...args: unknown[]) => object {
  const prototype = toStream?.(Type.prototype) ?? Type.prototype;
  const named = (given: string): new (...args: unknown[]) => object => {
    const called = function (...args: unknown[]): object {
      warn?.();
      return Reflect.construct(Type, args, new.target ?? called) as object;
    };
    Object.defineProperty(called, "name", { value: given, configurable: true });
    Object.defineProperty(called, "prototype", { value: prototype, writable: true });
    return called as unknown as new (...args: unknown[]) => object;
  };
  const own = named(Type.name);
  Object.defineProperty(Type.prototype, "constructor", { value: own });
  if (methods !== "") ownMethods(Type.prototype, methods);
  if (toStream === undefined) Object.setPrototypeOf(prototype, Object.prototype);
  return name === Type.name ? own : named(name);
}
