import { itemsOf, string } from "../convert.ts";
import { defineGetters, printGetters, requireArguments } from "../webIdl.ts";

// An event's state is in properties with these names, as in Deno: its methods work on any object that has them.
export const attributes = Symbol("[[attributes]]");
export const canceled = Symbol("[[canceledFlag]]");
export const stopped = Symbol("[[stopPropagationFlag]]");
export const stoppedNow = Symbol("[[stopImmediatePropagationFlag]]");
export const passive = Symbol("[[inPassiveListener]]");
export const dispatched = Symbol("[[dispatched]]");
export const trusted = Symbol("[[isTrusted]]");
export const path = Symbol("[[path]]");

interface Attributes {
  readonly type: string;
  readonly bubbles: boolean;
  readonly cancelable: boolean;
  readonly composed: boolean;
  currentTarget: unknown;
  eventPhase: number;
  target: unknown;
  readonly timeStamp: number;
}
type Init = Readonly<Record<string, unknown>>;
const NO_INIT = { __proto__: null } as unknown as Init;

const PHASES = { NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 };

/** DOM Standard, §2.2: `Event`. */
export class Event {
  [canceled] = false;
  [stopped] = false;
  [stoppedNow] = false;
  [passive] = false;
  [dispatched] = false;
  [trusted] = false;
  [path]: readonly unknown[] = [];
  [attributes]: Attributes;
  constructor(type: unknown, init: Init = NO_INIT) {
    const prefix = "Failed to construct 'Event'";
    requireArguments(arguments.length, 1, prefix);
    this[attributes] = {
      type: string(type, prefix, "Argument 1"),
      bubbles: !!init["bubbles"],
      cancelable: !!init["cancelable"],
      composed: !!init["composed"],
      currentTarget: null,
      eventPhase: 0,
      target: null,
      // Deno doesn't measure the time of an event.
      timeStamp: 0,
    };
  }
  get type(): string {
    return this[attributes].type;
  }
  get target(): unknown {
    return this[attributes].target;
  }
  get srcElement(): unknown {
    return null;
  }
  set srcElement(_) {}
  get currentTarget(): unknown {
    return this[attributes].currentTarget;
  }
  composedPath(): unknown[] {
    return this[path].length === 0 ? [] : [this.currentTarget];
  }
  get NONE(): number {
    return PHASES.NONE;
  }
  get CAPTURING_PHASE(): number {
    return PHASES.CAPTURING_PHASE;
  }
  get AT_TARGET(): number {
    return PHASES.AT_TARGET;
  }
  get BUBBLING_PHASE(): number {
    return PHASES.BUBBLING_PHASE;
  }
  get eventPhase(): number {
    return this[attributes].eventPhase;
  }
  stopPropagation(): void {
    this[stopped] = true;
  }
  get cancelBubble(): boolean {
    return this[stopped];
  }
  set cancelBubble(value: unknown) {
    this[stopped] = !!value;
  }
  stopImmediatePropagation(): void {
    this[stopped] = true;
    this[stoppedNow] = true;
  }
  get bubbles(): boolean {
    return this[attributes].bubbles;
  }
  get cancelable(): boolean {
    return this[attributes].cancelable;
  }
  get returnValue(): boolean {
    return !this[canceled];
  }
  set returnValue(value: unknown) {
    if (!value && this[attributes].cancelable && !this[passive]) this[canceled] = true;
  }
  preventDefault(): void {
    if (this[attributes].cancelable && !this[passive]) this[canceled] = true;
  }
  get defaultPrevented(): boolean {
    return this[canceled];
  }
  get composed(): boolean {
    return this[attributes].composed;
  }
  get initialized(): boolean {
    return true;
  }
  get timeStamp(): number {
    return this[attributes].timeStamp;
  }
}
for (const [name, value] of Object.entries(PHASES))
  Object.defineProperty(Event, name, { value, enumerable: true });
Object.defineProperty(Event.prototype, Symbol.toStringTag, { value: "Event", configurable: true });
const { get } = Object.getOwnPropertyDescriptor(
  {
    get isTrusted(): unknown {
      return (this as unknown as Event)[trusted];
    },
  },
  "isTrusted",
) as PropertyDescriptor;
Object.defineProperty(Event.prototype, "isTrusted", { get, enumerable: true } as PropertyDescriptor);

const KEYS =
  "bubbles cancelable composed currentTarget defaultPrevented eventPhase srcElement target returnValue timeStamp type".split(
    " ",
  );

/** Lists members of a class of events and prints its instances with them; unlike those of other classes, most aren't listed. */
function listMembers(type: typeof Event, listed: readonly string[], shown: readonly string[] = listed): void {
  for (const key of listed) Object.defineProperty(type.prototype, key, { enumerable: true });
  printGetters(type, type === Event ? KEYS : [...KEYS, ...shown]);
}
listMembers(Event, KEYS);

/** Each of these takes its dictionary as Deno does, which decides the number of its arguments and the errors for a wrong one. */
export class CustomEvent extends Event {
  [Symbol.toStringTag] = "CustomEvent";
  readonly #detail: unknown = null;
  constructor(type: unknown, init: Init = NO_INIT) {
    super(type, init);
    requireArguments(arguments.length, 1, "Failed to construct 'CustomEvent'");
    this.#detail = init["detail"];
  }
  get detail(): unknown {
    return this.#detail;
  }
}
listMembers(CustomEvent, ["detail"]);

export class ErrorEvent extends Event {
  [Symbol.toStringTag] = "ErrorEvent";
  readonly #fields: Init;
  static {
    const keys = ["message", "filename", "lineno", "colno", "error"];
    defineGetters(ErrorEvent, keys, (event: ErrorEvent) => event.#fields);
    listMembers(ErrorEvent, keys);
  }
  constructor(
    type: unknown,
    {
      bubbles,
      cancelable,
      composed,
      message = "",
      filename = "",
      lineno = 0,
      colno = 0,
      error,
    }: Init = NO_INIT,
  ) {
    super(type, { bubbles, cancelable, composed });
    this.#fields = { message, filename, lineno, colno, error };
  }
}

export class CloseEvent extends Event {
  readonly #fields: Init;
  static {
    const keys = ["wasClean", "code", "reason"];
    defineGetters(CloseEvent, keys, (event: CloseEvent) => event.#fields);
    listMembers(CloseEvent, [], keys);
  }
  constructor(
    type: unknown,
    { bubbles, cancelable, composed, wasClean = false, code = 0, reason = "" }: Init = NO_INIT,
  ) {
    super(type, { bubbles, cancelable, composed });
    this.#fields = { wasClean, code, reason };
  }
}

export class ProgressEvent extends Event {
  [Symbol.toStringTag] = "ProgressEvent";
  lengthComputable: unknown;
  loaded: unknown;
  total: unknown;
  constructor(type: unknown, init: Init = NO_INIT) {
    super(type, init);
    this.lengthComputable = init?.["lengthComputable"] ?? false;
    this.loaded = init?.["loaded"] ?? 0;
    this.total = init?.["total"] ?? 0;
  }
}
listMembers(ProgressEvent, [], ["lengthComputable", "loaded", "total"]);

export class PromiseRejectionEvent extends Event {
  [Symbol.toStringTag] = "PromiseRejectionEvent";
  readonly #fields: Init;
  static {
    const keys = ["promise", "reason"];
    defineGetters(PromiseRejectionEvent, keys, (event: PromiseRejectionEvent) => event.#fields);
    listMembers(PromiseRejectionEvent, keys);
  }
  constructor(type: unknown, { bubbles, cancelable, composed, promise, reason }: Init = NO_INIT) {
    super(type, { bubbles, cancelable, composed });
    this.#fields = { promise, reason };
  }
}

/** Creates `MessageEvent`. `isPort` says whether a value is a `MessagePort`. */
export function createMessageEvent(isPort: (value: unknown) => boolean) {
  class MessageEvent extends Event {
    [Symbol.toStringTag] = "MessageEvent";
    readonly #source: unknown = null;
    data: unknown;
    ports: readonly unknown[];
    origin: string;
    lastEventId: string;
    get source(): unknown {
      return this.#source;
    }
    constructor(type: unknown, init: Init | undefined) {
      super(type, {
        bubbles: init?.["bubbles"] ?? false,
        cancelable: init?.["cancelable"] ?? false,
        composed: init?.["composed"] ?? false,
      });
      this.data = init?.["data"] ?? null;
      this.ports = readPorts(init?.["ports"], isPort);
      this.origin = textOr(init?.["origin"], "");
      this.lastEventId = textOr(init?.["lastEventId"], "");
      this.#source = readSource(init?.["source"]);
    }
  }
  listMembers(MessageEvent, [], ["data", "origin", "lastEventId"]);
  return MessageEvent;
}

const textOr = (value: unknown, fallback: string): string => (value === undefined ? fallback : String(value));

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

function readPorts(ports: unknown, isPort: (value: unknown) => boolean): readonly unknown[] {
  if (ports === undefined || ports === null) return Object.freeze([]);
  if (typeof ports !== "object" || (ports as Partial<Iterable<unknown>>)[Symbol.iterator] === undefined) {
    const shown =
      typeof ports === "object" || typeof ports === "function"
        ? "{}"
        : typeof ports === "string"
          ? JSON.stringify(ports)
          : String(ports);
    throw new TypeError(`MessageEvent constructor: eventInitDict.ports (${shown}) is not iterable.`);
  }
  return Object.freeze(
    itemsOf(ports).map((port, at) => {
      if (isPort(port)) return port;
      throw new TypeError(
        `MessageEvent constructor: Expected eventInitDict.ports[${at}] (${quoted(port)}) to be an instance of MessagePort.`,
      );
    }),
  );
}
