import type { Convert } from "../convert.ts";
import { createAbort } from "../events/abort.ts";
import { createDomException } from "../events/domException.ts";
import {
  CloseEvent,
  CustomEvent,
  ErrorEvent,
  Event,
  ProgressEvent,
  PromiseRejectionEvent,
  createMessageEvent,
} from "../events/event.ts";
import { createEventTarget } from "../events/eventTarget.ts";
import type { Inspect } from "../webIdl.ts";
import type { Internals } from "../internals.ts";

/** DOM Standard: events, abort signals; Web IDL: `DOMException`. */
export default function eventsChunk({
  setTimeout,
  exit,
  load,
  cloneRules,
}: Internals): Readonly<Record<string, unknown>> {
  const { DOMException, QuotaExceededError, fieldsOf } = createDomException();
  let convertSignal: Convert<never>;
  const target = createEventTarget(
    DOMException,
    exit,
    (value, prefix, context) => convertSignal(value, prefix, context),
    isHandled,
  );
  const { EventTarget } = target;
  // Deno's global object is an event target.
  const window = Object.getPrototypeOf(globalThis) as Record<string, unknown>;
  if (Object.hasOwn(window, "dispatchEvent")) {
    for (const name of ["addEventListener", "removeEventListener", "dispatchEvent"]) delete window[name];
    Object.setPrototypeOf(window, EventTarget.prototype);
  }
  cloneRules.add({
    has: (value) => fieldsOf(value) !== undefined,
    copy: (exception: Error) => {
      const { message, name } = exception;
      const copy = new DOMException(message, name);
      if (typeof exception.stack === "string") copy.stack = exception.stack;
      return copy;
    },
  });
  const abort = createAbort(target, setTimeout, (convert) => {
    convertSignal = convert;
  });
  const MessageEvent = createMessageEvent(
    (value) => value instanceof (load("clone")["MessagePort"] as new () => object),
  );
  const isListenedTo = (type: string): boolean => target.listenersOf(globalThis, type).length > 0;
  /** Whether `error` listeners are being called: an error of theirs is passed to none. */
  let isReporting = false;
  /** Passes an uncaught error to the `error` listeners; true if one of them prevents the default. */
  function isHandled(error: unknown, isReported = false): boolean {
    if (isReporting || !isListenedTo("error")) return false;
    const stack = error instanceof Error ? error.stack : isReported ? new Error().stack : "";
    const [, line = 0, column = 0] = /source\.js:(\d+):(\d+)/.exec(String(stack)) ?? [];
    const init = {
      message: `Uncaught ${error instanceof Error ? Error.prototype.toString.call(error) : (load("console")["inspect"] as Inspect)(error)}`,
      filename: stack === "" ? "" : "file:///source.ts",
      lineno: Number(line),
      colno: Number(column),
      error,
      cancelable: true,
    };
    isReporting = true;
    try {
      return !target.dispatch(globalThis, new ErrorEvent("error", init));
    } finally {
      isReporting = false;
    }
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
    followSignals: abort.follow,
    exceptionFields: fieldsOf,
    addEventListener: EventTarget.prototype.addEventListener,
    removeEventListener: EventTarget.prototype.removeEventListener,
    dispatchEvent: EventTarget.prototype.dispatchEvent,
  };
}
