import { exposeInterface, printGetters, requireArguments, toText } from "../webIdl.ts";

/** The state of an event that changes during dispatch. */
export interface EventState {
  target: unknown;
  current: unknown;
  phase: number;
  stopped: boolean;
  stoppedNow: boolean;
  canceled: boolean;
  dispatching: boolean;
}

const startMs = Date.now();
const performanceNow = (): number => Date.now() - startMs;

/** Returns an event's state, for the code that dispatches it. */
export let stateOf: (event: Event) => EventState;

/** DOM Standard, §2.2: `Event`. */
export class Event {
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

/** Creates an event class with additional fields, each with its default. */
export function createEventType(name: string, fields: Readonly<Record<string, unknown>>): typeof Event {
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
