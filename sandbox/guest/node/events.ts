import { describe, wrongType } from "../buffer/errors.ts";

type Listener = ((...args: unknown[]) => unknown) & { listener?: Listener };

/** Creates `node:events`. */
export function createEvents(): Readonly<Record<string, unknown>> {
  class EventEmitter {
    static defaultMaxListeners = 10;
    #lists = new Map<PropertyKey, Listener[]>();
    #add(name: PropertyKey, listener: unknown, first: boolean): this {
      if (typeof listener !== "function") throw wrongType("listener", "function", listener);
      if (this.#lists.has("newListener"))
        this.emit("newListener", name, (listener as Listener).listener ?? listener);
      const list = this.#lists.get(name) ?? [];
      this.#lists.set(name, first ? [listener as Listener, ...list] : [...list, listener as Listener]);
      return this;
    }
    #once(name: PropertyKey, listener: unknown): Listener {
      if (typeof listener !== "function") throw wrongType("listener", "function", listener);
      const wrapped: Listener = (...args) => {
        this.off(name, wrapped);
        return Reflect.apply(listener, this, args) as unknown;
      };
      wrapped.listener = listener as Listener;
      return wrapped;
    }
    on(name: PropertyKey, listener: unknown): this {
      return this.#add(name, listener, false);
    }
    addListener(name: PropertyKey, listener: unknown): this {
      return this.#add(name, listener, false);
    }
    prependListener(name: PropertyKey, listener: unknown): this {
      return this.#add(name, listener, true);
    }
    once(name: PropertyKey, listener: unknown): this {
      return this.#add(name, this.#once(name, listener), false);
    }
    prependOnceListener(name: PropertyKey, listener: unknown): this {
      return this.#add(name, this.#once(name, listener), true);
    }
    off(name: PropertyKey, listener: unknown): this {
      const list = this.#lists.get(name) ?? [];
      const at = list.findLastIndex((known) => known === listener || known.listener === listener);
      if (at < 0) return this;
      if (list.length === 1) this.#lists.delete(name);
      else this.#lists.set(name, list.toSpliced(at, 1));
      return this;
    }
    removeListener(name: PropertyKey, listener: unknown): this {
      return this.off(name, listener);
    }
    removeAllListeners(name?: PropertyKey): this {
      if (name === undefined) this.#lists.clear();
      else this.#lists.delete(name);
      return this;
    }
    emit(name: PropertyKey, ...args: unknown[]): boolean {
      const list = this.#lists.get(name);
      if (list === undefined) {
        if (name !== "error") return false;
        if (args[0] instanceof Error) throw args[0];
        const error = new Error(
          `Unhandled error. (${typeof args[0] === "string" ? `'${args[0]}'` : String(args[0])})`,
        );
        throw Object.assign(error, { code: "ERR_UNHANDLED_ERROR", context: args[0] });
      }
      for (const listener of list) Reflect.apply(listener, this, args);
      return true;
    }
    listeners(name: PropertyKey): Listener[] {
      return (this.#lists.get(name) ?? []).map((listener) => listener.listener ?? listener);
    }
    rawListeners(name: PropertyKey): Listener[] {
      return [...(this.#lists.get(name) ?? [])];
    }
    listenerCount(name: PropertyKey): number {
      return this.#lists.get(name)?.length ?? 0;
    }
    eventNames(): PropertyKey[] {
      return [...this.#lists.keys()];
    }
    setMaxListeners(): this {
      return this;
    }
    getMaxListeners(): number {
      return EventEmitter.defaultMaxListeners;
    }
  }
  const once = (emitter: EventEmitter, name: PropertyKey): Promise<unknown[]> =>
    new Promise((resolve, reject) => {
      if (typeof emitter?.once !== "function")
        throw new TypeError(
          `The "emitter" argument must be an instance of EventEmitter. Received ${describe(emitter)}`,
        );
      const onError = (error: unknown): void => reject(error);
      emitter.once(name, (...args: unknown[]) => {
        emitter.off("error", onError);
        resolve(args);
      });
      if (name !== "error") emitter.once("error", onError);
    });
  const names = {
    EventEmitter,
    once,
    defaultMaxListeners: 10,
    errorMonitor: Symbol("events.errorMonitor"),
    captureRejectionSymbol: Symbol.for("nodejs.rejection"),
  };
  return { ...names, default: Object.assign(EventEmitter, names) };
}
