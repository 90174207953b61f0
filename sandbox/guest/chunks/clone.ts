import { type Convert, conversionError, dictionary, sequence, string, withCode } from "../convert.ts";
import { errorClasses } from "../builtins.ts";
import type { Internals } from "../internals.ts";
import * as types from "../types.ts";
import { exposeInterface, illegalInvocation, printGetters, printWith, requireArguments } from "../webIdl.ts";

interface EventTargetLike {
  addEventListener(type: unknown, listener: unknown, options?: unknown): void;
}

const isObject = (value: unknown): value is object =>
  (typeof value === "object" && value !== null) || typeof value === "function";
const object: Convert<object> = (value, prefix, context) => {
  if (isObject(value)) return value;
  throw conversionError("is not an object", prefix, context);
};
const readTransfer = sequence(object);
const readOptions = dictionary<{ transfer: object[] }>("StructuredSerializeOptions", {
  transfer: [readTransfer, []],
});

/** Both ends of a channel share one of these per direction. */
interface PortState {
  peer: PortState | undefined;
  /** The port that receives what arrives; undefined while the state is being moved. */
  port: object | undefined;
  started: boolean;
  closed: boolean;
  queue: { data: unknown; ports: readonly object[] }[];
}

const unconnected = (closed: boolean): PortState => ({
  peer: undefined,
  port: undefined,
  started: false,
  closed,
  queue: [],
});

/** HTML: `structuredClone`, `MessageChannel`, `MessagePort`, `BroadcastChannel`. */
export default function cloneChunk({
  load,
  setTimeout,
  cloneRules,
  exception,
  proxyParts,
}: Internals): Readonly<Record<string, unknown>> {
  const events = load("events") as {
    readonly EventTarget: new () => EventTargetLike;
    readonly MessageEvent: new (type: string, init: object) => object;
    readonly handlerAttribute: (prototype: object, type: string) => void;
    readonly fire: (target: object, event: object) => void;
  };
  const refuse = (text: string): Error => exception(text, "DataCloneError");
  const SECRET = {};

  const cloneFunction = {
    structuredClone: function (value: unknown, options: unknown = undefined): unknown {
      const prefix = "Failed to execute 'structuredClone'";
      requireArguments(arguments.length, 1, prefix);
      // Without options, a primitive value is its own clone.
      if (options === undefined && typeof value !== "symbol" && !isObject(value)) return value;
      const { transfer } = readOptions(options, prefix, "Argument 2");
      return move(value, transfer).data;
    },
  }.structuredClone;
  Object.defineProperties(cloneFunction, {
    length: { value: 2, configurable: true },
    name: { value: "structuredClone", configurable: true },
  });

  /** Clones a value; what `transfer` lists is moved instead of copied, even if the rest can't be cloned. */
  function move(value: unknown, transfer: readonly object[]): { data: unknown; moved: object[] } {
    const memory = new Map<unknown, unknown>();
    const moves: (() => object)[] = [];
    transfer.forEach((item, at) => {
      if (types.isArrayBuffer(item)) {
        const buffer = item as ArrayBuffer;
        if (buffer.detached) throw refuse(`ArrayBuffer at index ${at} is already detached`);
        if (memory.has(buffer)) return;
        // A copy of the same kind stands for the buffer until it is moved: views on it need its length.
        memory.set(buffer, copyBuffer(buffer));
        moves.push(() => {
          buffer.transfer();
          return memory.get(buffer) as object;
        });
        return;
      }
      const rule = cloneRules.find(item);
      if (rule?.transfer === undefined) throw refuse("Value not transferable");
      const moved = (rule.transfer as (value: object) => object)(item);
      memory.set(item, moved);
      moves.push(() => moved);
    });
    let data: unknown;
    let moved: object[] = [];
    try {
      data = clone(value, memory, false);
    } finally {
      moved = moves.map((each) => each());
    }
    return { data, moved };
  }

  function clone(value: unknown, memory: Map<unknown, unknown>, isNested: boolean): unknown {
    if (typeof value === "symbol") throw refuse(`${String(value)} could not be cloned.`);
    if (typeof value === "function")
      throw refuse(`${nameOfTarget(proxyParts(value)?.[0] ?? value)} could not be cloned.`);
    if (typeof value !== "object" || value === null) return value;
    if (memory.has(value)) return memory.get(value);
    const parts = proxyParts(value);
    if (parts !== undefined) {
      if (parts[0] === undefined)
        throw new TypeError("Cannot perform 'get' on a proxy that has been revoked");
      throw refuse(`${nameOfTarget(parts[0])} could not be cloned.`);
    }
    const keep = <T>(copy: T): T => {
      memory.set(value, copy);
      return copy;
    };
    const inner = (part: unknown): unknown => clone(part, memory, true);
    if (types.isBoxedPrimitive(value)) {
      const primitive = (value as { valueOf(): unknown }).valueOf();
      if (typeof primitive === "symbol") throw refuse("[object Symbol] could not be cloned.");
      return keep(Object(primitive));
    }
    if (types.isDate(value)) return keep(new Date(Date.prototype.getTime.call(value)));
    if (types.isRegExp(value)) return keep(new RegExp((value as RegExp).source, (value as RegExp).flags));
    if (types.isArrayBuffer(value)) {
      if (types.isDetached(value)) throw refuse("An ArrayBuffer is detached and could not be cloned.");
      return keep(copyBuffer(value as ArrayBuffer));
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
    const rule = cloneRules.find(value);
    if (rule?.copy !== undefined) return keep((rule.copy as (value: object) => unknown)(value));
    // Deno refuses most of its objects only where they are the value itself.
    if (rule !== undefined && (!isNested || rule.refusal !== undefined || rule.transfer !== undefined))
      throw refuse(
        rule.refusal ?? (isNested ? "Unsupported object type" : "Cannot clone object of unsupported type."),
      );
    if (types.isNativeError(value)) return cloneError(value as Error, keep, inner);
    if (Object.prototype.toString.call(value) === "[object WebAssembly.Module]") return keep(value);
    const unclonable = nameOfUnclonable(value);
    if (unclonable !== undefined) throw refuse(`${unclonable} could not be cloned.`);
    const copy = keep(
      (Array.isArray(value) ? Object.assign([], { length: value.length }) : {}) as Record<string, unknown>,
    );
    for (const key of Object.keys(value)) {
      if (!Object.hasOwn(value, key)) continue;
      Object.defineProperty(copy, key, {
        value: inner((value as Record<string, unknown>)[key]),
        writable: true,
        enumerable: true,
        configurable: true,
      });
    }
    return copy;
  }

  function copyBuffer(buffer: ArrayBuffer): ArrayBuffer {
    if (!buffer.resizable) return buffer.slice(0);
    const copy = new ArrayBuffer(buffer.byteLength, { maxByteLength: buffer.maxByteLength });
    new Uint8Array(copy).set(new Uint8Array(buffer));
    return copy;
  }

  function cloneView(view: ArrayBufferView, inner: (part: unknown) => unknown): unknown {
    const name = types.typedArrayName(view);
    const isDetached = types.isDetached(view.buffer);
    if (!isDetached && types.isOutOfBounds(view))
      throw refuse(`${Object.prototype.toString.call(view)} could not be cloned.`);
    const buffer = inner(view.buffer) as ArrayBuffer;
    const { byteOffset } = view;
    const length = name === undefined ? view.byteLength : (view as Uint8Array).length;
    const tracks = types.tracksLength(view);
    type View = new (buffer: ArrayBuffer, at: number, length?: number) => unknown;
    const type = globalThis[(name ?? "DataView") as "DataView"] as View;
    return tracks ? new type(buffer, byteOffset) : new type(buffer, byteOffset, length);
  }

  function cloneError(error: Error, keep: <T>(copy: T) => T, inner: (part: unknown) => unknown): Error {
    const made = keep(new (errorClasses[error.name] ?? Error)());
    // Only properties that hold a value are copied: a getter of the source isn't called.
    const own = (key: string): unknown => Object.getOwnPropertyDescriptor(error, key)?.value as unknown;
    const set = (key: string, value: unknown): void => {
      Object.defineProperty(made, key, { value, writable: true, configurable: true });
    };
    for (const text of [error.name, own("message")])
      if (typeof text === "symbol") throw refuse("Cannot convert a Symbol value to a string");
    if (own("message") !== undefined) set("message", String(own("message")));
    const stack = Object.hasOwn(error, "stack") ? error.stack : undefined;
    set("stack", typeof stack === "string" ? stack : undefined);
    if (Object.hasOwn(error, "cause")) set("cause", inner(error.cause));
    return made;
  }

  let stateOf: (port: MessagePort) => PortState;
  let takeState: (port: MessagePort) => PortState;
  let isPort: (value: object) => boolean;

  class MessagePort extends events.EventTarget {
    #state: PortState;
    static {
      isPort = (value) => #state in value;
      stateOf = (port) => port.#state;
      takeState = (port) => {
        const state = port.#state;
        port.#state = unconnected(true);
        return state;
      };
    }
    constructor(secret?: unknown, state?: PortState) {
      if (secret !== SECRET || state === undefined)
        throw withCode(new TypeError("Illegal constructor"), "ERR_ILLEGAL_CONSTRUCTOR");
      super();
      this.#state = state;
      state.port = this;
    }
    postMessage(message: unknown, options: unknown = undefined): void {
      const prefix = "Failed to execute 'postMessage' on 'MessagePort'";
      requireArguments(arguments.length, 1, prefix);
      const isList = typeof options === "object" && options !== null && Symbol.iterator in options;
      const { transfer } = isList
        ? { transfer: readTransfer(options, prefix, "Argument 2") }
        : options === undefined
          ? { transfer: [] }
          : readOptions(options, prefix, "Argument 2");
      if (transfer.includes(this)) throw refuse("Transfer list contains source port");
      if (transfer.some((item, at) => types.isArrayBuffer(item) && transfer.indexOf(item) < at))
        throw refuse("Transfer list contains duplicate ArrayBuffer");
      const { data, moved } = move(message, transfer);
      const { peer, closed } = this.#state;
      if (peer === undefined || closed) return;
      peer.queue.push({ data, ports: moved.filter(isPort) });
      deliver(peer);
    }
    start(): void {
      this.#state.started = true;
      deliver(this.#state);
    }
    ref(): void {}
    unref(): void {}
    hasRef(): boolean {
      return this.#state.started && !this.#state.closed;
    }
    close(): void {
      this.#state.closed = true;
    }
  }

  /** Delivers the messages that wait for a port, one task each. */
  function deliver(state: PortState): void {
    if (!state.started) return;
    const waiting = state.queue.splice(0);
    for (const { data, ports } of waiting) {
      setTimeout(() => {
        if (state.port === undefined || state.closed) return;
        events.fire(
          state.port,
          new events.MessageEvent("message", { data, ...(ports.length > 0 && { ports }) }),
        );
      }, 0);
    }
  }

  function createChannel(): [MessagePort, MessagePort] {
    const [first, second] = [unconnected(false), unconnected(false)];
    first.peer = second;
    second.peer = first;
    return [new MessagePort(SECRET, first), new MessagePort(SECRET, second)];
  }
  cloneRules.add({
    has: (value) => isPort(value),
    refusal: "Unsupported object type",
    transfer: (port: MessagePort) => {
      if (stateOf(port).port === undefined) throw refuse("Can not transfer disentangled message port");
      const state = takeState(port);
      state.started = false;
      return new MessagePort(SECRET, state);
    },
  });

  class MessageChannel {
    readonly #ports = createChannel();
    get port1(): MessagePort {
      return this.#ports[0];
    }
    get port2(): MessagePort {
      return this.#ports[1];
    }
  }

  const channels: BroadcastChannel[] = [];
  class BroadcastChannel extends events.EventTarget {
    readonly #name: string;
    #isClosed = false;
    constructor(name: unknown) {
      const prefix = "Failed to construct 'BroadcastChannel'";
      requireArguments(arguments.length, 1, prefix);
      super();
      this.#name = string(name, prefix, "Argument 1");
      channels.push(this);
    }
    get name(): string {
      return this.#name;
    }
    postMessage(message: unknown): void {
      requireArguments(arguments.length, 1, "Failed to execute 'postMessage' on 'BroadcastChannel'");
      if (this.#isClosed) throw exception("Already closed", "InvalidStateError");
      if (typeof message === "function" || typeof message === "symbol") throw refuse("Uncloneable value");
      let first: unknown;
      try {
        first = move(message, []).data;
      } catch (error) {
        throw new TypeError((error as Error).message, { cause: error });
      }
      for (const channel of channels) {
        if (channel === this || channel.#isClosed || channel.#name !== this.#name) continue;
        const { data } = move(first, []);
        setTimeout(() => {
          if (channel.#isClosed) return;
          const origin = "http://127.0.0.1";
          events.fire(channel, new events.MessageEvent("message", { data, origin }));
        }, 0);
      }
    }
    close(): void {
      this.#isClosed = true;
    }
  }

  for (const { prototype } of [MessagePort, BroadcastChannel])
    for (const type of ["message", "messageerror"]) events.handlerAttribute(prototype, type);
  const handler = Object.getOwnPropertyDescriptor(MessagePort.prototype, "onmessage") as {
    get(): unknown;
    set(value: unknown): void;
  };
  Object.defineProperty(MessagePort.prototype, "onmessage", {
    ...handler,
    // Setting the attribute starts the port; a listener doesn't.
    set(this: MessagePort, value: unknown) {
      handler.set.call(this, value);
      this.start();
    },
  });
  Object.defineProperty(MessagePort, "length", { value: 0, configurable: true });
  Object.defineProperty(MessagePort.prototype.close, "length", { value: 1, configurable: true });
  for (const type of [MessagePort, MessageChannel, BroadcastChannel]) exposeInterface(type);
  delete (BroadcastChannel.prototype as { [Symbol.toStringTag]?: string })[Symbol.toStringTag];
  for (const name of ["name", "postMessage", "close"])
    Object.defineProperty(BroadcastChannel.prototype, name, { enumerable: false });
  printGetters(BroadcastChannel, ["name", "onmessage", "onmessageerror"]);
  printWith(MessagePort.prototype as object, (self, inspect, options) => {
    if (!isPort(self)) throw illegalInvocation();
    const { onmessage, onmessageerror } = self as { onmessage?: unknown; onmessageerror?: unknown };
    const port = self as MessagePort;
    const active = !stateOf(port).closed;
    return inspect({ active, refed: active && port.hasRef(), onmessage, onmessageerror }, options);
  });
  printGetters(MessageChannel, ["port1", "port2"]);
  return {
    structuredClone: cloneFunction,
    /** What the platform itself clones with. */
    copy: (value: unknown): unknown => move(value, []).data,
    move,
    MessagePort,
    MessageChannel,
    BroadcastChannel,
  };
}

/** Returns a function's text with the blanks that the nodes' compiler gives it; a body of several lines stays as it is. */
function reprinted(text: string): string {
  const arrow = /^(async\s+)?(\([^()]*\)|[\w$]+)\s*=>\s*(?!\s)([^{][^]*|\{\s*\})$/.exec(text);
  if (arrow !== null) {
    const [, asyncly, parameters = "", body = ""] = arrow;
    const list = parameters.startsWith("(") ? parameters : `(${parameters})`;
    return `${asyncly ? "async " : ""}${list}=>${body.startsWith("{") ? "{}" : body}`;
  }
  if (text.endsWith("{ [native code] }")) return text;
  return text
    .replace(/^(async )?function(\*?) ?\(/, "$1function$2(")
    .replace(/^(?!(?:async )?function\b)((?:async |[gs]et )?\*?[\w$]+)\((?=[^()]*\) *\{)/, "$1 (")
    .replace(/^(class\b[^{]*)\{\s*\}$/, "$1{\n      }");
}

/** Returns how a message names a proxy, by its target. */
function nameOfTarget(target: object): string {
  if (typeof target === "function") return reprinted(Function.prototype.toString.call(target));
  if (types.isNativeError(target)) return String(target);
  const name = Object.getPrototypeOf(target) === null ? undefined : target.constructor?.name;
  const isPlain = !(Array.isArray(target) || types.isDate(target) || types.isRegExp(target));
  return name && isPlain ? `#<${name}>` : Object.prototype.toString.call(target);
}

/** Returns how a message names an object with internal slots that a plain copy would lose; undefined for any other. */
function nameOfUnclonable(value: object): string | undefined {
  if (value === globalThis) return "#<Window>";
  if (types.isPromise(value)) return "#<Promise>";
  if (types.isWeakMap(value)) return "#<WeakMap>";
  if (types.isWeakSet(value)) return "#<WeakSet>";
  if (types.isWeakRef(value)) return "#<WeakRef>";
  if (value instanceof FinalizationRegistry) return "#<FinalizationRegistry>";
  if (types.isGeneratorObject(value) || types.isBuiltInIterator(value))
    return Object.prototype.toString.call(value);
  const tag: unknown = (value as Record<symbol, unknown>)[Symbol.toStringTag];
  if (typeof tag === "string" && tag.startsWith("Intl.")) return `#<${tag.slice(5)}>`;
  return types.isArguments(value) ? "#<Object>" : undefined;
}
