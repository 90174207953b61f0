import type { Internals } from "../internals.ts";
import { exposeInterface, printable, requireArguments, toText } from "../webIdl.ts";
import type { DomExceptionType } from "./domException.ts";
import { Event, stateOf } from "./event.ts";

type Listener = ((event: Event) => unknown) | { handleEvent(event: Event): unknown } | null;
interface Registration {
  readonly listener: Listener;
  readonly capture: boolean;
  readonly once: boolean;
  readonly passive: boolean;
  removed: boolean;
}

/** `EventTarget`, with what its subclasses and the global object, itself an event target, need. */
export type EventTargetTools = ReturnType<typeof createEventTarget>;

/** Creates `EventTarget` (DOM Standard, §2.7). */
export function createEventTarget(DOMException: DomExceptionType, setTimeout: Internals["setTimeout"]) {
  const registrations = new WeakMap<object, Map<string, Registration[]>>();

  class EventTarget {
    constructor() {
      registrations.set(this, new Map());
    }
    addEventListener(type: unknown, listener: Listener, options: unknown = {}): void {
      requireArguments(arguments.length, 2, "Failed to execute 'addEventListener' on 'EventTarget'");
      const fields = (typeof options === "object" && options !== null ? options : { capture: options }) as {
        capture?: unknown;
        once?: unknown;
        passive?: unknown;
        signal?: { readonly aborted: boolean; addEventListener(type: string, listener: () => void): void };
      };
      const { signal } = fields;
      if (listener === null || listener === undefined || signal?.aborted) return;
      const lists = listsOf(this ?? globalThis);
      const list = lists.get(toText(type)) ?? [];
      lists.set(toText(type), list);
      const capture = Boolean(fields.capture);
      if (list.some((known) => known.listener === listener && known.capture === capture)) return;
      list.push({
        listener,
        capture,
        once: Boolean(fields.once),
        passive: Boolean(fields.passive),
        removed: false,
      });
      signal?.addEventListener("abort", () => this.removeEventListener(type, listener, { capture }));
    }
    removeEventListener(type: unknown, listener: Listener, options: unknown = {}): void {
      requireArguments(arguments.length, 2, "Failed to execute 'removeEventListener' on 'EventTarget'");
      const capture = Boolean(
        typeof options === "object" && options !== null
          ? (options as { capture?: unknown }).capture
          : options,
      );
      const list = listsOf(this ?? globalThis).get(toText(type)) ?? [];
      const at = list.findIndex((known) => known.listener === listener && known.capture === capture);
      if (at < 0) return;
      (list[at] as Registration).removed = true;
      list.splice(at, 1);
    }
    dispatchEvent(event: Event): boolean {
      requireArguments(arguments.length, 1, "Failed to execute 'dispatchEvent' on 'EventTarget'");
      if (!(event instanceof Event))
        throw new TypeError("Cannot set properties of undefined (setting 'target')");
      return dispatch(this ?? globalThis, event);
    }
  }

  function listsOf(target: object): Map<string, Registration[]> {
    let lists = registrations.get(target);
    if (lists === undefined) registrations.set(target, (lists = new Map()));
    return lists;
  }

  /** Calls a target's listeners, including its `on…` handler; an error in one is reported and doesn't stop the others. */
  function dispatch(target: object, event: Event): boolean {
    const state = stateOf(event);
    if (state.dispatching) throw new DOMException("Invalid event state", "InvalidStateError");
    Object.assign(state, { target, current: target, phase: 2, dispatching: true });
    const list = [...(listsOf(target).get(event.type) ?? [])];
    for (const registration of list) {
      if (registration.removed || state.stoppedNow) continue;
      const { listener, once, capture } = registration;
      if (once)
        EventTarget.prototype.removeEventListener.call(target as EventTarget, event.type, listener, {
          capture,
        });
      try {
        if (typeof listener === "function") listener.call(target, event);
        else listener?.handleEvent(event);
      } catch (error) {
        report(error);
      }
    }
    Object.assign(state, { current: null, phase: 0, dispatching: false, stopped: false, stoppedNow: false });
    return !state.canceled;
  }

  /** Throws an error where nobody can catch it, which ends the run as it ends Deno. */
  function report(error: unknown): void {
    setTimeout(() => {
      throw error;
    }, 0);
  }

  /** Adds an `on…` attribute to a class; its handler counts as a listener. */
  function handlerAttribute(prototype: object, type: string): void {
    const handlers = new WeakMap<object, { handler: unknown }>();
    Object.defineProperty(prototype, `on${type}`, {
      enumerable: true,
      configurable: true,
      get(this: object) {
        return handlers.get(this)?.handler ?? null;
      },
      set(this: EventTarget, value: unknown) {
        const handler = typeof value === "function" || typeof value === "object" ? value : null;
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

  exposeInterface(EventTarget);
  Object.defineProperty(EventTarget.prototype, Symbol.for("Deno.privateCustomInspect"), {
    value: (inspect: (value: unknown) => string) => inspect(printable("EventTarget", {})),
    configurable: true,
  });
  return { EventTarget, dispatch, handlerAttribute };
}
