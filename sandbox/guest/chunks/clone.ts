import type { Internals } from "../internals.ts";
import * as types from "../types.ts";
import { exposeInterface, requireArguments, toText } from "../webIdl.ts";

const ERRORS: Readonly<Record<string, ErrorConstructor>> = {
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
};

interface Port extends EventTargetLike {
  onmessage: unknown;
}
interface EventTargetLike {
  dispatchEvent(event: object): boolean;
}

/** HTML: `structuredClone`, `MessageChannel`, `MessagePort`, `BroadcastChannel`. */
export default function cloneChunk({ load, setTimeout }: Internals): Readonly<Record<string, unknown>> {
  const events = load("events") as {
    readonly DOMException: new (message: string, name: string) => Error;
    readonly EventTarget: new () => EventTargetLike;
    readonly MessageEvent: new (type: string, init: object) => object;
    readonly handlerAttribute: (prototype: object, type: string) => void;
  };
  const refuse = (text: string): Error => new events.DOMException(text, "DataCloneError");

  function structuredClone(value: unknown, options: { transfer?: readonly unknown[] } = {}): unknown {
    requireArguments(arguments.length, 1, "Failed to execute 'structuredClone'");
    const transfer = [...(options?.transfer ?? [])];
    const memory = new Map<unknown, unknown>();
    for (const item of transfer) {
      if (!types.isArrayBuffer(item) && !(item instanceof MessagePort))
        throw refuse("Value not transferable");
    }
    const moved = new Set(transfer.filter(types.isArrayBuffer));
    const result = clone(value, memory);
    // Transferred buffers are detached only after everything else has succeeded.
    for (const buffer of moved) (buffer as ArrayBuffer).transfer();
    return result;
  }

  function clone(value: unknown, memory: Map<unknown, unknown>): unknown {
    if (typeof value === "symbol") throw refuse(`${String(value)} could not be cloned.`);
    if (typeof value === "function")
      throw refuse(`${Function.prototype.toString.call(value)} could not be cloned.`);
    if (typeof value !== "object" || value === null) return value;
    const known = memory.get(value);
    if (known !== undefined) return known;
    const keep = <T>(copy: T): T => {
      memory.set(value, copy);
      return copy;
    };
    const inner = (part: unknown): unknown => clone(part, memory);
    if (types.isBoxedPrimitive(value)) {
      const primitive = (value as { valueOf(): unknown }).valueOf();
      if (typeof primitive === "symbol") throw refuse("Object could not be cloned.");
      return keep(Object(primitive));
    }
    if (types.isDate(value)) return keep(new Date(Date.prototype.getTime.call(value)));
    if (types.isRegExp(value)) return keep(new RegExp((value as RegExp).source, (value as RegExp).flags));
    if (types.isArrayBuffer(value)) {
      const buffer = value as ArrayBuffer;
      if (buffer.detached) throw refuse("An ArrayBuffer is detached and could not be cloned.");
      return keep(buffer.slice(0));
    }
    if (types.isSharedArrayBuffer(value)) return keep(value);
    if (ArrayBuffer.isView(value)) return keep(cloneView(value, inner));
    if (types.isMap(value)) {
      const copy = keep(new Map<unknown, unknown>());
      for (const [key, entry] of Array.from(Map.prototype.entries.call(value)))
        copy.set(inner(key), inner(entry));
      return copy;
    }
    if (types.isSet(value)) {
      const copy = keep(new Set<unknown>());
      for (const entry of Array.from(Set.prototype.values.call(value))) copy.add(inner(entry));
      return copy;
    }
    if (types.isNativeError(value)) return cloneError(value as Error, keep, inner);
    const own = (value as Record<symbol, unknown>)[CLONE];
    if (typeof own === "function") return keep(own.call(value));
    if (isPlatformObject(value))
      throw refuse(`#<${Object.prototype.toString.call(value).slice(8, -1)}> could not be cloned.`);
    const copy = keep(
      (Array.isArray(value) ? Object.assign([], { length: value.length }) : {}) as Record<string, unknown>,
    );
    for (const key of Object.keys(value)) copy[key] = inner((value as Record<string, unknown>)[key]);
    return copy;
  }

  function cloneError(error: Error, keep: <T>(copy: T) => T, inner: (part: unknown) => unknown): Error {
    const type = ERRORS[error.name] ?? Error;
    const made = keep(new type(error.message));
    if (!Object.hasOwn(error, "message")) delete (made as { message?: string }).message;
    Object.defineProperty(made, "stack", { value: String(error.stack), writable: true, configurable: true });
    if (Object.hasOwn(error, "cause"))
      Object.defineProperty(made, "cause", { value: inner(error.cause), writable: true, configurable: true });
    return made;
  }

  class MessagePort extends events.EventTarget {
    #peer: MessagePort | undefined;
    #closed = false;
    static link(a: MessagePort, b: MessagePort): void {
      a.#peer = b;
      b.#peer = a;
    }
    postMessage(
      message: unknown,
      options: { transfer?: readonly unknown[] } | readonly unknown[] = {},
    ): void {
      requireArguments(arguments.length, 1, "Failed to execute 'postMessage' on 'MessagePort'");
      const transfer = Array.isArray(options)
        ? options
        : ((options as { transfer?: readonly unknown[] }).transfer ?? []);
      const data = structuredClone(message, { transfer });
      const peer = this.#peer;
      if (peer === undefined || this.#closed) return;
      setTimeout(() => {
        if (!peer.#closed) peer.dispatchEvent(new events.MessageEvent("message", { data }));
      }, 0);
    }
    start(): void {}
    close(): void {
      this.#closed = true;
    }
    ref(): void {}
    unref(): void {}
  }
  const { link } = MessagePort;
  delete (MessagePort as { link?: unknown }).link;
  events.handlerAttribute(MessagePort.prototype, "message");
  events.handlerAttribute(MessagePort.prototype, "messageerror");

  class MessageChannel {
    readonly #port1 = new MessagePort();
    readonly #port2 = new MessagePort();
    constructor() {
      link(this.#port1, this.#port2);
    }
    get port1(): Port {
      return this.#port1 as unknown as Port;
    }
    get port2(): Port {
      return this.#port2 as unknown as Port;
    }
  }

  class BroadcastChannel extends events.EventTarget {
    readonly #name: string;
    constructor(name: unknown) {
      requireArguments(arguments.length, 1, "Failed to construct 'BroadcastChannel'");
      super();
      this.#name = toText(name);
    }
    get name(): string {
      return this.#name;
    }
    postMessage(message: unknown): void {
      structuredClone(message);
    }
    close(): void {}
  }
  events.handlerAttribute(BroadcastChannel.prototype, "message");
  for (const type of [MessagePort, MessageChannel, BroadcastChannel]) exposeInterface(type);
  return { structuredClone, MessagePort, MessageChannel, BroadcastChannel };
}

/** A method under this symbol defines how its object is cloned. */
const CLONE = Symbol.for("tyche.clone");

/** Whether an object has internal slots that a plain copy would lose. */
function isPlatformObject(value: object): boolean {
  if (types.isPromise(value) || types.isWeakMap(value) || types.isWeakSet(value) || types.isWeakRef(value))
    return true;
  if (types.isGeneratorObject(value)) return true;
  return false;
}

function cloneView(view: ArrayBufferView, inner: (part: unknown) => unknown): unknown {
  const buffer = inner(view.buffer) as ArrayBuffer;
  const name = types.typedArrayName(view);
  if (name === undefined) return new DataView(buffer, view.byteOffset, view.byteLength);
  const type = (
    globalThis as unknown as Record<string, new (buffer: ArrayBuffer, at: number, length: number) => unknown>
  )[name];
  return new (type as NonNullable<typeof type>)(buffer, view.byteOffset, (view as Uint8Array).length);
}
