import type { Internals } from "../../internals.ts";

/** What a stream itself has. */
const STATES = new Set<PropertyKey>(["_readableState", "_writableState", "allowHalfOpen"]);
/** The streams' methods under symbols; others are asked for by what prints or converts an object. */
const SYMBOLS = new Set([Symbol.asyncIterator, Symbol.asyncDispose, Symbol.for("nodejs.rejection")]);

type StreamClass = ((options?: object) => void) & { readonly prototype: object };

/**
 * Returns what makes a prototype's objects streams on demand: the library of streams, which takes longer to load than most digests take, is
 * evaluated once something asks one of them for what it doesn't have itself.
 */
export function createLazyStream(
  load: Internals["load"],
  name: "Transform" | "Writable",
): (own: object) => object {
  const started = new WeakSet<object>();
  let Stream: StreamClass | undefined;
  const prototype = (): object =>
    (Stream ??= (load("nodeStream")["stream"] as Record<string, StreamClass>)[name] as StreamClass).prototype;
  const isOwn = (own: object, key: PropertyKey): boolean => key in own && !(key in Object.prototype);
  return (own) =>
    new Proxy(own, {
      get(_target, key, self: object) {
        if (isOwn(own, key) || key === "constructor") return Reflect.get(own, key, self) as unknown;
        if (((typeof key === "symbol" && !SYMBOLS.has(key)) || key === "then") && !started.has(self))
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
      has: (_target, key) => isOwn(own, key) || Reflect.has(prototype(), key),
      getPrototypeOf: prototype,
    });
}
