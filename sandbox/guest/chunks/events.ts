import { createDomException } from "../events/domException.ts";
import type { Internals } from "../internals.ts";
import {
  exposeInterface,
  exposeStatics,
  printGetters,
  printable,
  requireArguments,
  toText,
} from "../webIdl.ts";

type Listener = ((event: EventLike) => unknown) | { handleEvent(event: EventLike): unknown } | null;
interface Registration {
  readonly listener: Listener;
  readonly capture: boolean;
  readonly once: boolean;
  readonly passive: boolean;
  removed: boolean;
}
interface EventState {
  target: unknown;
  current: unknown;
  phase: number;
  stopped: boolean;
  stoppedNow: boolean;
  canceled: boolean;
  dispatching: boolean;
}

interface EventLike {
  readonly type: string;
  preventDefault(): void;
}

/** DOM Standard: events, abort signals; Web IDL: `DOMException`. */
export default function eventsChunk({ setTimeout }: Internals): Readonly<Record<string, unknown>> {
  const DOMException = createDomException();

  let stateOf: (event: Event) => EventState;

  class Event {
    readonly #type: string;
    readonly #init: { bubbles: boolean; cancelable: boolean; composed: boolean };
    readonly #timeStamp = performanceNow();
    readonly #state: EventState = {
      target: null,
      current: null,
      phase: 0,
      stopped: false,
      stoppedNow: false,
      canceled: false,
      dispatching: false,
    };
    static {
      stateOf = (event) => event.#state;
    }
    constructor(
      type: unknown,
      init: { bubbles?: unknown; cancelable?: unknown; composed?: unknown } | null = {},
    ) {
      requireArguments(arguments.length, 1, "Failed to construct 'Event'");
      this.#type = toText(type);
      this.#init = {
        bubbles: Boolean(init?.bubbles),
        cancelable: Boolean(init?.cancelable),
        composed: Boolean(init?.composed),
      };
      Object.defineProperty(this, "isTrusted", { get: () => false, enumerable: true });
    }
    get type(): string {
      return this.#type;
    }
    get target(): unknown {
      return this.#state.target;
    }
    get srcElement(): unknown {
      return null;
    }
    get currentTarget(): unknown {
      return this.#state.current;
    }
    composedPath(): unknown[] {
      return this.#state.current === null ? [] : [this.#state.current];
    }
    get eventPhase(): number {
      return this.#state.phase;
    }
    get NONE(): number {
      return 0;
    }
    get CAPTURING_PHASE(): number {
      return 1;
    }
    get AT_TARGET(): number {
      return 2;
    }
    get BUBBLING_PHASE(): number {
      return 3;
    }
    stopPropagation(): void {
      this.#state.stopped = true;
    }
    get cancelBubble(): boolean {
      return this.#state.stopped;
    }
    set cancelBubble(value: unknown) {
      if (value) this.#state.stopped = true;
    }
    stopImmediatePropagation(): void {
      this.#state.stopped = true;
      this.#state.stoppedNow = true;
    }
    get bubbles(): boolean {
      return this.#init.bubbles;
    }
    get cancelable(): boolean {
      return this.#init.cancelable;
    }
    get returnValue(): boolean {
      return !this.#state.canceled;
    }
    set returnValue(value: unknown) {
      if (!value) this.preventDefault();
    }
    preventDefault(): void {
      if (this.#init.cancelable) this.#state.canceled = true;
    }
    get defaultPrevented(): boolean {
      return this.#state.canceled;
    }
    get composed(): boolean {
      return this.#init.composed;
    }
    initEvent(): void {}
    get timeStamp(): number {
      return this.#timeStamp;
    }
  }
  for (const [name, value] of [
    ["NONE", 0],
    ["CAPTURING_PHASE", 1],
    ["AT_TARGET", 2],
    ["BUBBLING_PHASE", 3],
  ] as const) {
    Object.defineProperty(Event, name, { value, enumerable: true });
  }

  /** A class of events with more fields, each with its default. */
  function eventClass(name: string, fields: Readonly<Record<string, unknown>>): typeof Event {
    const type = {
      [name]: class extends Event {
        constructor(kind: unknown, init: Record<string, unknown> | null = {}) {
          requireArguments(arguments.length, 1, `Failed to construct '${name}'`);
          super(kind, init);
          values.set(this, {
            ...fields,
            ...Object.fromEntries(
              Object.keys(fields)
                .filter((key) => init?.[key] !== undefined)
                .map((key) => [key, init?.[key]]),
            ),
          });
        }
      },
    }[name] as typeof Event;
    const values = new WeakMap<object, Record<string, unknown>>();
    for (const key of Object.keys(fields)) {
      Object.defineProperty(type.prototype, key, {
        get(this: object) {
          return values.get(this)?.[key];
        },
        enumerable: true,
        configurable: true,
      });
    }
    exposeInterface(type, name);
    printGetters(type, [...Object.keys(fields), ...EVENT_KEYS]);
    return type;
  }
  const EVENT_KEYS = [
    "bubbles",
    "cancelable",
    "composed",
    "currentTarget",
    "defaultPrevented",
    "eventPhase",
    "srcElement",
    "target",
    "returnValue",
    "timeStamp",
    "type",
  ];
  exposeInterface(Event);
  printGetters(Event, EVENT_KEYS);

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
        signal?: AbortSignal;
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

  /** Calls the listeners of a target, its `on…` handler among them; an error in one is reported and stops none. */
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

  /** An error that nobody can catch ends the run, as it ends Deno. */
  function report(error: unknown): void {
    setTimeout(() => {
      throw error;
    }, 0);
  }

  /** Gives a class an `on…` attribute whose handler counts as a listener. */
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
        EventTarget.prototype.addEventListener.call(this, type, (event: EventLike) => {
          if (typeof held.handler === "function" && held.handler.call(this, event) === false)
            event.preventDefault();
        });
      },
    });
  }

  const SECRET = {};
  let abort: (signal: AbortSignal, reason: unknown) => void;

  class AbortSignal extends EventTarget {
    #aborted = false;
    #reason: unknown = undefined;
    readonly #followers: ((reason: unknown) => void)[] = [];
    static {
      abort = (signal, reason) => {
        if (signal.#aborted) return;
        signal.#aborted = true;
        signal.#reason =
          reason === undefined ? new DOMException("The signal has been aborted", "AbortError") : reason;
        for (const follow of signal.#followers) follow(signal.#reason);
        dispatch(signal, new Event("abort"));
      };
    }
    static abort(reason: unknown = undefined): AbortSignal {
      const signal = new AbortSignal(SECRET);
      abort(signal, reason);
      return signal;
    }
    static timeout(delayMs: unknown): AbortSignal {
      requireArguments(arguments.length, 1, "Failed to execute 'AbortSignal.timeout'");
      const signal = new AbortSignal(SECRET);
      setTimeout(
        () => abort(signal, new DOMException("The operation was aborted due to timeout", "TimeoutError")),
        Number(delayMs),
      );
      return signal;
    }
    static any(signals: Iterable<AbortSignal>): AbortSignal {
      requireArguments(arguments.length, 1, "Failed to execute 'AbortSignal.any'");
      const all = [...signals];
      const signal = new AbortSignal(SECRET);
      const first = all.find((source) => source.aborted);
      if (first !== undefined) abort(signal, first.reason);
      else for (const source of all) source.#followers.push((reason) => abort(signal, reason));
      return signal;
    }
    constructor(secret?: unknown) {
      if (secret !== SECRET) throw new TypeError("Illegal constructor");
      super();
    }
    get aborted(): boolean {
      return this.#aborted;
    }
    get reason(): unknown {
      return this.#reason;
    }
    throwIfAborted(): void {
      if (this.#aborted) throw this.#reason;
    }
  }
  Object.defineProperty(AbortSignal, "length", { value: 0, configurable: true });
  handlerAttribute(AbortSignal.prototype, "abort");

  class AbortController {
    readonly #signal = new AbortSignal(SECRET);
    get signal(): AbortSignal {
      return this.#signal;
    }
    abort(reason: unknown = undefined): void {
      abort(this.#signal, reason);
    }
  }

  for (const type of [EventTarget, AbortSignal, AbortController]) exposeInterface(type);
  exposeStatics(AbortSignal, "abort", "timeout", "any");
  printGetters(AbortSignal, ["aborted", "reason", "onabort"]);
  printGetters(AbortController, ["signal"]);
  Object.defineProperty(EventTarget.prototype, Symbol.for("Deno.privateCustomInspect"), {
    value: (inspect: (value: unknown) => string) => inspect(printable("EventTarget", {})),
    configurable: true,
  });

  const CustomEvent = eventClass("CustomEvent", { detail: null });
  const ErrorEvent = eventClass("ErrorEvent", {
    message: "",
    filename: "",
    lineno: 0,
    colno: 0,
    error: undefined,
  });
  const MessageEvent = eventClass("MessageEvent", {
    data: null,
    origin: "",
    lastEventId: "",
    source: null,
    ports: [],
  });
  const CloseEvent = eventClass("CloseEvent", { wasClean: false, code: 0, reason: "" });
  const ProgressEvent = eventClass("ProgressEvent", { lengthComputable: false, loaded: 0, total: 0 });
  const PromiseRejectionEvent = eventClass("PromiseRejectionEvent", {
    promise: undefined,
    reason: undefined,
  });
  const QuotaExceededError = class extends DOMException {
    constructor(message: unknown = "") {
      super(message, "QuotaExceededError");
    }
  };
  exposeInterface(QuotaExceededError, "QuotaExceededError");
  return {
    DOMException,
    QuotaExceededError,
    Event,
    EventTarget,
    AbortSignal,
    AbortController,
    CustomEvent,
    ErrorEvent,
    MessageEvent,
    CloseEvent,
    ProgressEvent,
    PromiseRejectionEvent,
    handlerAttribute,
    dispatch,
    addEventListener: EventTarget.prototype.addEventListener,
    removeEventListener: EventTarget.prototype.removeEventListener,
    dispatchEvent: EventTarget.prototype.dispatchEvent,
  };
}

const startMs = Date.now();
const performanceNow = (): number => Date.now() - startMs;
