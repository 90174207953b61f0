import { string } from "../convert.ts";
import { defineGetters, exposeInterface, printGetters, requireArguments } from "../webIdl.ts";

/** The state of an event that changes during dispatch. */
export interface EventState {
  target: unknown;
  current: unknown;
  phase: number;
  stopped: boolean;
  stoppedNow: boolean;
  canceled: boolean;
  dispatching: boolean;
  /** Whether the listener that runs may not cancel the event. */
  passive: boolean;
  /** Whether the platform created the event. */
  trusted: boolean;
}

const NO_INIT = { __proto__: null } as EventInit;
interface EventInit {
  readonly bubbles?: unknown;
  readonly cancelable?: unknown;
  readonly composed?: unknown;
}

/** Returns an event's state, for the code that dispatches it. */
export let stateOf: (event: Event) => EventState;
/** Whether a value is an event. */
export let isEvent: (value: unknown) => boolean;

/** DOM Standard, §2.2: `Event`. */
export class Event {
  readonly #type: string;
  readonly #init: { readonly bubbles: boolean; readonly cancelable: boolean; readonly composed: boolean };
  readonly #state: EventState;
  static {
    stateOf = (event) => event.#state;
    isEvent = (value) => typeof value === "object" && value !== null && #state in value;
  }
  constructor(type: unknown, init: EventInit = NO_INIT) {
    const prefix = "Failed to construct 'Event'";
    requireArguments(arguments.length, 1, prefix);
    this.#type = string(type, prefix, "Argument 1");
    this.#init = { bubbles: !!init.bubbles, cancelable: !!init.cancelable, composed: !!init.composed };
    this.#state = {
      target: null,
      current: null,
      phase: 0,
      stopped: false,
      stoppedNow: false,
      canceled: false,
      dispatching: false,
      passive: false,
      trusted: false,
    };
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
  set srcElement(_) {}
  get currentTarget(): unknown {
    return this.#state.current;
  }
  composedPath(): unknown[] {
    return this.#state.current === null ? [] : [this.#state.current];
  }
  get eventPhase(): number {
    return this.#state.phase;
  }
  stopPropagation(): void {
    this.#state.stopped = true;
  }
  get cancelBubble(): boolean {
    return this.#state.stopped;
  }
  set cancelBubble(value: unknown) {
    this.#state.stopped = !!value;
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
    if (!value) this.#cancel();
  }
  preventDefault(): void {
    this.#cancel();
  }
  #cancel(): void {
    if (this.#init.cancelable && !this.#state.passive) this.#state.canceled = true;
  }
  get defaultPrevented(): boolean {
    return this.#state.canceled;
  }
  get composed(): boolean {
    return this.#init.composed;
  }
  get initialized(): boolean {
    return true;
  }
  /** Deno doesn't measure the time of an event. */
  get timeStamp(): number {
    return 0;
  }
}
const PHASES = { NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 };
const PHASE_NAMES = Object.keys(PHASES) as (keyof typeof PHASES)[];
const EVENT_NAMES = Object.getOwnPropertyNames(Event.prototype);
defineGetters(Event, PHASE_NAMES, () => PHASES, EVENT_NAMES.slice(EVENT_NAMES.indexOf("eventPhase")));
exposeInterface(Event);
for (const name of PHASE_NAMES) Object.defineProperty(Event, name, { value: PHASES[name], enumerable: true });
Object.defineProperty(Event.prototype, "isTrusted", {
  get(this: Event) {
    return stateOf(this).trusted;
  },
  enumerable: true,
});

const EVENT_KEYS =
  "bubbles cancelable composed currentTarget defaultPrevented eventPhase srcElement target returnValue timeStamp type".split(
    " ",
  );
printGetters(Event, EVENT_KEYS, isEvent);

/** How a type of event differs from `Event`; Deno's types differ in all of these. */
interface EventTypeOptions {
  /** Fields that getters of the prototype return, with the value they have when the constructor isn't given one. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** Reads the instance's own properties from the constructor's second argument. */
  readonly own?: (init: Readonly<Record<string, unknown>> | undefined) => object;
  /** Reads the fields; default: those that are given and not undefined. */
  readonly read?: (init: Readonly<Record<string, unknown>>) => Record<string, unknown>;
  /** Fields that printing shows, if not all of them. */
  readonly shown?: readonly string[];
  /** Whether the type has a tag of its own. */
  readonly tagged?: boolean;
  /** Whether the constructor refuses a call without arguments; the others take `undefined` for the event's type. */
  readonly needsType?: boolean;
}

/** Creates a type of event. */
export function createEventType(name: string, options: EventTypeOptions): typeof Event {
  const { fields = {}, own, read, tagged = true, needsType = false } = options;
  const values = new WeakMap<object, Record<string, unknown>>();
  const names = Object.keys(fields);
  const type = {
    [name]: class extends Event {
      constructor(kind: unknown, init: Record<string, unknown> = NO_INIT as Record<string, unknown>) {
        if (needsType) requireArguments(arguments.length, 1, `Failed to construct '${name}'`);
        super(kind, init ?? (own === undefined ? init : NO_INIT));
        const given = { __proto__: null, ...fields } as unknown as Record<string, unknown>;
        if (read !== undefined) Object.assign(given, read(init));
        else for (const key of names) if (init[key] !== undefined) given[key] = init[key];
        values.set(this, given);
        if (own !== undefined) Object.assign(this, own(init));
      }
    },
  }[name] as typeof Event;
  for (const key of names) {
    Object.defineProperty(type.prototype, key, {
      get(this: object) {
        return values.get(this)?.[key];
      },
      enumerable: true,
      configurable: true,
    });
  }
  exposeInterface(type, name);
  if (!tagged) delete (type.prototype as { [Symbol.toStringTag]?: string })[Symbol.toStringTag];
  printGetters(type, [...EVENT_KEYS, ...(options.shown ?? names)], isEvent);
  return type;
}
