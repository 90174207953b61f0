import { type Convert, boolean, dictionary } from "../convert.ts";
import type { Internals } from "../internals.ts";
import { exposeInterface, illegalInvocation, printable, requireArguments } from "../webIdl.ts";
import type { DomExceptionType } from "./domException.ts";
import { type Event, isEvent, stateOf } from "./event.ts";

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

/** `EventTarget`, with what its subclasses and the global object, itself an event target, need. */
export type EventTargetTools = ReturnType<typeof createEventTarget>;

/** Creates `EventTarget` (DOM Standard, §2.7). `convertSignal` converts the `signal` of a listener, `isHandled` passes on what one throws. */
export function createEventTarget(
  DOMException: DomExceptionType,
  setTimeout: Internals["setTimeout"],
  convertSignal: Convert<AbortSignalLike>,
  isHandled: (error: unknown) => boolean,
) {
  const registrations = new WeakMap<object, Map<string, Registration[]>>();
  const readOptions = dictionary<ListenerOptions>("AddEventListenerOptions", {
    capture: [boolean, false],
    once: [boolean, false],
    passive: [boolean, false],
    signal: [convertSignal],
  });
  const readCapture = dictionary<{ capture: boolean }>("EventListenerOptions", { capture: [boolean, false] });

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
        : { capture: !!options, once: false, passive: false, signal: undefined };
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
      const capture = isObject(options) ? readCapture(options, "", "").capture : !!options;
      const list = lists.get(String(type)) ?? [];
      const at = listener === null ? -1 : findListener(list, listener, capture);
      if (at >= 0) remove(list, list[at] as Registration);
    }
    dispatchEvent(event: Event): boolean {
      const lists = listsOf(this);
      requireArguments(arguments.length, 1, "Failed to execute 'dispatchEvent' on 'EventTarget'");
      if (!lists.has(event.type)) {
        if (!isEvent(event)) throw new TypeError("Cannot set properties of undefined (setting 'target')");
        stateOf(event).target = this;
        return true;
      }
      if (!isEvent(event) || stateOf(event).dispatching)
        throw new DOMException("Invalid event state", "InvalidStateError");
      return dispatch(this ?? globalThis, event);
    }
    getParent(): null {
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
    const state = stateOf(event);
    Object.assign(state, { target, current: target, phase: 2, dispatching: true });
    const list = registrations.get(target)?.get(event.type) ?? [];
    if (!state.stopped) {
      // The listeners that were there when the event was dispatched.
      const present = list.slice();
      for (const registration of present) {
        if (registration.removed || state.stoppedNow) continue;
        const { listener, once, passive } = registration;
        if (once) remove(list, registration);
        state.passive = passive;
        try {
          if (typeof listener === "object") listener?.handleEvent?.(event);
          else Reflect.apply(listener, target, [event]);
        } catch (error) {
          report(error);
        }
        state.passive = false;
      }
    }
    Object.assign(state, { current: null, phase: 0, dispatching: false, stopped: false, stoppedNow: false });
    return !state.canceled;
  }

  /** Dispatches an event that the platform created. */
  function fire(target: object, event: Event): void {
    stateOf(event).trusted = true;
    dispatch(target, event);
  }

  /** Passes an error that a listener threw on to the `error` listeners; one that nobody handles ends the run as it ends Deno. */
  function report(error: unknown): void {
    if (isHandled(error)) return;
    setTimeout(() => {
      throw error;
    }, 0);
  }

  /** Adds an `on…` attribute to a class; its handler counts as a listener. `isAny`: the attribute keeps whatever it is set to. */
  function handlerAttribute(prototype: object, type: string, isAny = false): void {
    const handlers = new WeakMap<object, { handler: unknown }>();
    Object.defineProperty(prototype, `on${type}`, {
      enumerable: true,
      configurable: true,
      get(this: object) {
        return handlers.get(this)?.handler ?? null;
      },
      set(this: EventTarget, value: unknown) {
        const handler = isAny || typeof value === "function" || typeof value === "object" ? value : null;
        const known = handlers.get(this);
        if (known !== undefined) {
          known.handler = handler;
          return;
        }
        const held = { handler };
        handlers.set(this, held);
        EventTarget.prototype.addEventListener.call(this, type, (event: Event) => {
          if (typeof held.handler === "function" && held.handler.call(this, event) === false)
            event.preventDefault();
        });
      },
    });
  }

  exposeInterface(EventTarget, "EventTarget", true);
  Object.defineProperty(EventTarget.prototype, Symbol.for("Deno.privateCustomInspect"), {
    value(this: object, inspect: (value: unknown) => string) {
      const name = (this.constructor as { name?: string } | undefined)?.name ?? "EventTarget";
      return inspect(printable(name, {}));
    },
    configurable: true,
  });
  const listenersOf = (target: object, type: string): Listener[] =>
    (registrations.get(target)?.get(type) ?? []).map(({ listener }) => listener);
  return { EventTarget, dispatch, fire, handlerAttribute, listenersOf };
}

const isObject = (value: unknown): value is object =>
  (typeof value === "object" && value !== null) || typeof value === "function";
