import type { Convert } from "../convert.ts";
import { createAbort } from "../events/abort.ts";
import { createDomException } from "../events/domException.ts";
import { Event, createEventType } from "../events/event.ts";
import { createEventTarget } from "../events/eventTarget.ts";
import type { Internals } from "../internals.ts";

/** DOM Standard: events, abort signals; Web IDL: `DOMException`. */
export default function eventsChunk({
  setTimeout,
  load,
  cloneRules,
}: Internals): Readonly<Record<string, unknown>> {
  const { DOMException, QuotaExceededError, fieldsOf } = createDomException();
  let convertSignal: Convert<never>;
  const target = createEventTarget(
    DOMException,
    setTimeout,
    (value, prefix, context) => convertSignal(value, prefix, context),
    isHandled,
  );
  const { EventTarget } = target;
  cloneRules.add({
    has: (value) => fieldsOf(value) !== undefined,
    copy: (exception: Error) => {
      const { message, name } = exception;
      const copy = new DOMException(message, name);
      if (typeof exception.stack === "string") copy.stack = exception.stack;
      return copy;
    },
  });
  const abort = createAbort(target, DOMException, setTimeout, (convert) => {
    convertSignal = convert;
  });
  const CustomEvent = createEventType("CustomEvent", {
    fields: { detail: undefined },
    read: ({ detail }) => ({ detail }),
    needsType: true,
  });
  const ErrorEvent = createEventType("ErrorEvent", {
    fields: { message: "", filename: "", lineno: 0, colno: 0, error: undefined },
  });
  const CloseEvent = createEventType("CloseEvent", {
    fields: { wasClean: false, code: 0, reason: "" },
    tagged: false,
  });
  const MessageEvent = createEventType("MessageEvent", {
    fields: { source: null },
    read: (init) => ({ source: readSource(init?.["source"]) }),
    own: (init) => ({
      data: init?.["data"] ?? null,
      ports: readPorts(init?.["ports"], load),
      origin: textOr(init?.["origin"], ""),
      lastEventId: textOr(init?.["lastEventId"], ""),
    }),
    shown: ["data", "origin", "lastEventId"],
  });
  const ProgressEvent = createEventType("ProgressEvent", {
    own: (init) => ({
      lengthComputable: init?.["lengthComputable"] ?? false,
      loaded: init?.["loaded"] ?? 0,
      total: init?.["total"] ?? 0,
    }),
    shown: ["lengthComputable", "loaded", "total"],
  });
  const PromiseRejectionEvent = createEventType("PromiseRejectionEvent", {
    fields: { promise: undefined, reason: undefined },
  });
  const isListenedTo = (type: string): boolean => target.listenersOf(globalThis, type).length > 0;
  /** Passes an uncaught error to the `error` listeners; true if one of them prevents the default. */
  function isHandled(error: unknown): boolean {
    if (!isListenedTo("error")) return false;
    const [, line = 0, column = 0] = /:(\d+):(\d+)/.exec(String((error as Error | null)?.stack)) ?? [];
    const init = {
      message: `Uncaught ${shownError(error)}`,
      filename: "file:///source.ts",
      lineno: Number(line),
      colno: Number(column),
      error,
      cancelable: true,
    };
    return !target.dispatch(globalThis, new ErrorEvent("error", init));
  }
  /** Passes a rejection that nobody handled to its listeners; true if one of them prevents the default. */
  function isRejectionHandled(reason: unknown): boolean {
    if (!isListenedTo("unhandledrejection")) return false;
    const promise = Promise.reject(reason);
    promise.catch(() => {});
    const init = { promise, reason, cancelable: true };
    const event = new PromiseRejectionEvent("unhandledrejection", init);
    return !target.dispatch(globalThis, event);
  }
  Object.defineProperty(MessageEvent, "length", { value: 2, configurable: true });
  return {
    DOMException,
    QuotaExceededError,
    Event,
    EventTarget,
    AbortSignal: abort.AbortSignal,
    AbortController: abort.AbortController,
    CustomEvent,
    ErrorEvent,
    MessageEvent,
    CloseEvent,
    ProgressEvent,
    PromiseRejectionEvent,
    handlerAttribute: target.handlerAttribute,
    dispatch: target.dispatch,
    fire: target.fire,
    listenersOf: target.listenersOf,
    isHandled,
    isRejectionHandled,
    convertSignal: abort.convertSignal,
    exceptionFields: fieldsOf,
    addEventListener: EventTarget.prototype.addEventListener,
    removeEventListener: EventTarget.prototype.removeEventListener,
    dispatchEvent: EventTarget.prototype.dispatchEvent,
  };
}

const textOr = (value: unknown, fallback: string): string => (value === undefined ? fallback : String(value));

/** Names an uncaught value as V8's message does. */
function shownError(error: unknown): string {
  if (typeof error === "string") return JSON.stringify(error);
  if (typeof error !== "object" || error === null || error instanceof Error) return String(error);
  return `#<${(error.constructor as { name?: string } | undefined)?.name ?? "Object"}>`;
}

/** Shows a value of the wrong type as Deno's message does. */
function quoted(value: unknown): string {
  return (typeof value === "object" && value !== null) || typeof value === "function"
    ? '"{}"'
    : JSON.stringify(String(value));
}

function readSource(source: unknown): unknown {
  if (source === undefined || source === null) return null;
  const isObject = typeof source === "object" || typeof source === "function";
  if (isObject && Object.getPrototypeOf(source) !== Object.prototype) return source;
  throw new TypeError(
    `MessageEvent constructor: Expected eventInitDict.source (${quoted(source)}) to be an instance of MessagePort.`,
  );
}

function readPorts(ports: unknown, load: Internals["load"]): readonly unknown[] {
  if (ports === undefined || ports === null) return Object.freeze([]);
  if (typeof ports !== "object" || !(Symbol.iterator in ports)) {
    const shown =
      typeof ports === "object" || typeof ports === "function"
        ? "{}"
        : typeof ports === "string"
          ? JSON.stringify(ports)
          : String(ports);
    throw new TypeError(`MessageEvent constructor: eventInitDict.ports (${shown}) is not iterable.`);
  }
  const { MessagePort } = load("clone") as { readonly MessagePort: new () => object };
  return Object.freeze(
    Array.from(ports as Iterable<unknown>, (port, at) => {
      if (port instanceof MessagePort) return port;
      throw new TypeError(
        `MessageEvent constructor: Expected eventInitDict.ports[${at}] (${quoted(port)}) to be an instance of MessagePort.`,
      );
    }),
  );
}
