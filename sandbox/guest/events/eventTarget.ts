import { type Convert, boolean, dictionary } from "../convert.ts";
import type { Internals } from "../internals.ts";
import { exposeInterface, illegalInvocation, printWith, requireArguments } from "../webIdl.ts";
import type { DomExceptionType } from "./domException.ts";
import {
  type Event,
  attributes,
  dispatched,
  passive as isPassive,
  path,
  stopped,
  stoppedNow,
  trusted,
} from "./event.ts";

type Listener = ((event: Event) => unknown) | { handleEvent?(event: Event): unknown } | null;
interface Registration {
  readonly listener: Listener;
  readonly capture: boolean;
  readonly once: boolean;
  readonly passive: boolean;
  /** Withdraws the listener from the signal that would remove it. */
  readonly forget: (() => void) | undefined;
  removed: boolean;
}
interface ListenerOptions {
  readonly capture: boolean;
  readonly once: boolean;
  readonly passive: boolean;
  readonly signal?: AbortSignalLike;
}
interface AbortSignalLike {
  readonly aborted: boolean;
  addEventListener(type: string, listener: () => void): void;
  removeEventListener(type: string, listener: () => void): void;
}

const eventHandlers = Symbol("eventHandlers");

/** `EventTarget`, with what its subclasses and the global object, itself an event target, need. */
export type EventTargetTools = ReturnType<typeof createEventTarget>;

/** Creates `EventTarget` (DOM Standard, §2.7). `convertSignal` converts the `signal` of a listener, `isHandled` passes on what one throws. */
export function createEventTarget(
  DOMException: DomExceptionType,
  exit: Internals["exit"],
  convertSignal: Convert<AbortSignalLike>,
  isHandled: (error: unknown, isReported: boolean) => boolean,
) {
  const registrations = new WeakMap<object, Map<string, Registration[]>>();
  const readOptions = dictionary<ListenerOptions>("AddEventListenerOptions", {
    capture: [boolean, false],
    once: [boolean, false],
    passive: [boolean, false],
    signal: [convertSignal],
  });

  class EventTarget {
    constructor() {
      registrations.set(this, new Map());
    }
    addEventListener(type: unknown, listener: Listener, options?: unknown): void {
      const lists = listsOf(this);
      const prefix = "Failed to execute 'addEventListener' on 'EventTarget'";
      requireArguments(arguments.length, 2, prefix);
      const { capture, once, passive, signal } = isObject(options)
        ? readOptions(options, prefix, "Argument 3")
        : // Without a signal of its own: as in Deno, one that a source gives to all objects counts.
          ({ capture: !!options, once: false, passive: false } as ListenerOptions);
      if (listener === null) return;
      const name = String(type);
      const list = lists.get(name) ?? [];
      lists.set(name, list);
      if (findListener(list, listener, capture) >= 0 || signal?.aborted) return;
      const forget = signal === undefined ? undefined : follow(signal, () => remove(list, registration));
      const registration: Registration = { listener, capture, once, passive, forget, removed: false };
      list.push(registration);
    }
    removeEventListener(type: unknown, listener: Listener, options?: unknown): void {
      const lists = listsOf(this);
      requireArguments(arguments.length, 2, "Failed to execute 'removeEventListener' on 'EventTarget'");
      const list = listener === null ? undefined : lists.get(String(type));
      if (list === undefined) return;
      const capture =
        typeof options === "boolean" || options === undefined || options === null
          ? !!options
          : !!(options as { readonly capture?: unknown }).capture;
      const at = findListener(list, listener, capture);
      if (at >= 0) remove(list, list[at] as Registration);
    }
    dispatchEvent(event: Event): boolean {
      const lists = listsOf(this);
      requireArguments(arguments.length, 1, "Failed to execute 'dispatchEvent' on 'EventTarget'");
      if (!lists.has(event.type)) {
        event[attributes].target = this;
        return true;
      }
      if (event[dispatched] || event.eventPhase !== 0)
        throw new DOMException("Invalid event state", "InvalidStateError");
      return dispatch(this ?? globalThis, event);
    }
    getParent(_event: unknown): null {
      return null;
    }
  }

  /** Returns the listeners of an event target by type; the global object is one. */
  function listsOf(self: object | undefined): Map<string, Registration[]> {
    const target = self ?? globalThis;
    let lists = registrations.get(target);
    if (lists === undefined) {
      if (target !== globalThis) throw illegalInvocation();
      registrations.set(target, (lists = new Map()));
    }
    return lists;
  }

  function findListener(list: readonly Registration[], listener: Listener, capture: boolean): number {
    for (let at = 0; at < list.length; at++)
      if (list[at]?.listener === listener && list[at]?.capture === capture) return at;
    return -1;
  }

  function remove(list: Registration[], registration: Registration): void {
    if (registration.removed) return;
    registration.removed = true;
    list.splice(list.indexOf(registration), 1);
    registration.forget?.();
  }

  /** Calls `onAbort` once the signal is aborted; returns the function that no longer does. */
  function follow(signal: AbortSignalLike, onAbort: () => void): () => void {
    signal.addEventListener("abort", onAbort);
    return () => signal.removeEventListener("abort", onAbort);
  }

  /** Calls a target's listeners, including its `on…` handler; an error in one is reported and doesn't stop the others. */
  function dispatch(target: object, event: Event): boolean {
    event[dispatched] = true;
    event[path] = [target];
    Object.assign(event[attributes], { target, currentTarget: target, eventPhase: 2 });
    const list = registrations.get(target)?.get(event.type) ?? [];
    if (!event.cancelBubble) {
      // The listeners that were there when the event was dispatched.
      const present = list.slice();
      for (const registration of present) {
        if (registration.removed || event[stoppedNow]) continue;
        const { listener, once, passive } = registration;
        if (once) remove(list, registration);
        if (passive) event[isPassive] = true;
        try {
          if (typeof listener === "object") {
            if (typeof listener?.handleEvent === "function") listener.handleEvent(event);
          } else Reflect.apply(listener, target, [event]);
        } catch (error) {
          report(error);
        }
        event[isPassive] = false;
      }
    }
    Object.assign(event[attributes], { currentTarget: null, eventPhase: 0 });
    event[path] = [];
    event[dispatched] = false;
    event[stopped] = false;
    event[stoppedNow] = false;
    return !event.defaultPrevented;
  }

  /** Dispatches an event that the platform created. */
  function fire(target: object, event: Event): void {
    event[trusted] = true;
    dispatch(target, event);
  }

  /** Passes an error that a listener threw on to the `error` listeners; one that nobody handles ends the run as it ends Deno. */
  function report(error: unknown): void {
    if (!isHandled(error, true)) exit(1, error);
  }

  /** Adds an `on…` attribute to a class; its handler is a listener from the first time that it is set. */
  function handlerAttribute(prototype: object, type: string): void {
    interface Holder extends EventTarget {
      [eventHandlers]?: Map<string, { handler: unknown } | undefined>;
    }
    Object.defineProperty(prototype, `on${type}`, {
      enumerable: true,
      configurable: true,
      get(this: Holder) {
        return this[eventHandlers]?.get(type)?.handler ?? null;
      },
      set(this: Holder, value: unknown) {
        const handler = typeof value === "function" || typeof value === "object" ? value : null;
        const handlers = (this[eventHandlers] ??= new Map());
        let held = handlers.get(type);
        if (held !== undefined) held.handler = handler;
        else if (handler !== null) {
          const wrapper: { (this: unknown, event: Event): unknown; handler: unknown } = function (event) {
            return typeof wrapper.handler === "function" ? wrapper.handler.call(this, event) : undefined;
          };
          wrapper.handler = handler;
          held = wrapper;
          this.addEventListener(type, wrapper);
        }
        handlers.set(type, held);
      },
    });
  }

  exposeInterface(EventTarget, "EventTarget", true);
  printWith(
    EventTarget.prototype as object,
    (self, inspect, options) => `${self.constructor.name} ${inspect({}, options)}`,
  );
  const listenersOf = (target: object, type: string): Listener[] =>
    (registrations.get(target)?.get(type) ?? []).map(({ listener }) => listener);
  return { EventTarget, dispatch, fire, handlerAttribute, listenersOf };
}

const isObject = (value: unknown): value is object =>
  (typeof value === "object" && value !== null) || typeof value === "function";
