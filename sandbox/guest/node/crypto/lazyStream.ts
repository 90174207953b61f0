import type { Internals } from "../../internals.ts";

/** What a stream itself has. */
const STATES = new Set<PropertyKey>(["_readableState", "_writableState", "allowHalfOpen"]);

type StreamClass = ((options?: object) => void) & { readonly prototype: object };

/** The part of a lazy stream that its subclasses use. */
export interface LazyStream {
  push(bytes: unknown): void;
}

/**
 * Creates a base class whose objects are streams on demand: the library of streams, which takes longer to load than most digests take, is
 * evaluated once something asks one of them for what it doesn't have itself.
 */
export function createLazyStream(
  load: Internals["load"],
  name: "Transform" | "Writable",
): new () => LazyStream {
  const started = new WeakSet<object>();
  let Stream: StreamClass | undefined;
  const prototype = (): object =>
    (Stream ??= (load("nodeStream")["stream"] as Record<string, StreamClass>)[name] as StreamClass).prototype;
  const Lazy = function LazyStream() {} as unknown as new () => LazyStream;
  const proxy = new Proxy(Lazy.prototype as object, {
    get(_target, key, self: object) {
      if ((typeof key === "symbol" || key === "then") && !started.has(self))
        return Reflect.get(Object.prototype, key, self) as unknown;
      const from = prototype();
      // The library also reads from the prototypes.
      if (!started.has(self) && !Object.hasOwn(self, "constructor") && (key in from || STATES.has(key))) {
        started.add(self);
        Reflect.apply(Stream as StreamClass, self, [(self as { _options?: object })._options]);
      }
      return Reflect.get(from, key, self) as unknown;
    },
    set: (_target, key, value, self) => Reflect.set(Stream?.prototype ?? {}, key, value, self),
    has: (_target, key) => Reflect.has(prototype(), key),
    getPrototypeOf: prototype,
  });
  return Object.defineProperty(Lazy, "prototype", { value: proxy });
}
