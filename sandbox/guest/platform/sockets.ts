import { boolean, dictionary, scalarString, sequence, string } from "../convert.ts";
import type { Internals } from "../internals.ts";
import { defineGetters, exposeInterface, moveToEnd, printGetters, requireArguments } from "../webIdl.ts";

interface Events {
  readonly EventTarget: new () => { dispatchEvent(event: object): boolean };
  readonly Event: new (type: string) => object;
  readonly CloseEvent: new (type: string, init: object) => object;
  readonly handlerAttribute: (prototype: object, type: string) => void;
}
type Fields = Record<string, unknown>;

const STATES = { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 };
const SOURCE_STATES = { CONNECTING: 0, OPEN: 1, CLOSED: 2 };
const TOKEN = /^[!#$%&'*+.^`|~\w-]+$/;
const readSocketInit = dictionary<{ protocols?: string[] }>("WebSocketInit", {
  protocols: [sequence(string)],
});
const readInit = dictionary<object>("EventSourceInit", { withCredentials: [boolean, false] });

/** Creates `WebSocket` and `EventSource`, whose connections always fail: sources reach the network only through requests. */
export function createSockets({ load, setTimeout, exception }: Internals, events: Events) {
  const parse = (text: string): string => {
    const { URL } = load("url") as { URL: new (url: string) => { readonly href: string } };
    try {
      return new URL(text).href;
    } catch (error) {
      throw exception((error as Error).message, "SyntaxError");
    }
  };

  class WebSocket extends events.EventTarget {
    readonly #fields: Fields;
    #binaryType = "blob";
    static {
      const keys = ["readyState", ...Object.keys(STATES), "extensions", "protocol", "url", "bufferedAmount"];
      defineGetters(WebSocket, keys, (socket: WebSocket) => socket.#fields);
    }
    constructor(url: unknown, protocols: unknown = undefined) {
      const prefix = "Failed to construct 'WebSocket'";
      requireArguments(arguments.length, 1, prefix);
      super();
      const names = readProtocols(protocols, prefix);
      const href = parse(scalarString(url)).replace(/^http/, "ws");
      if (!/^wss?:/.test(href)) {
        const text = `Only ws & wss schemes are allowed in a WebSocket URL: received ${/^\w+:/.exec(href)?.[0]}`;
        throw exception(text, "SyntaxError");
      }
      if (href.includes("#")) throw exception("Fragments are not allowed in a WebSocket URL", "SyntaxError");
      if (new Set(names.map((name) => name.toLowerCase())).size < names.length)
        throw exception("Cannot supply the same protocol multiple times", "SyntaxError");
      if (names.some((name) => !TOKEN.test(name))) throw exception("Invalid protocol value", "SyntaxError");
      this.#fields = { ...STATES, readyState: 0, extensions: "", protocol: "", url: href, bufferedAmount: 0 };
      setTimeout(() => {
        this.#fields["readyState"] = STATES.CLOSED;
        this.dispatchEvent(new events.Event("error"));
        this.dispatchEvent(new events.CloseEvent("close", { code: 1006, reason: "" }));
      }, 0);
    }
    get binaryType(): string {
      return this.#binaryType;
    }
    set binaryType(value: unknown) {
      const text = string(value);
      if (text === "blob" || text === "arraybuffer") this.#binaryType = text;
    }
    send(_data: unknown): void {
      requireArguments(arguments.length, 1, "Failed to execute 'send' on 'WebSocket'");
      throw exception("'readyState' not OPEN", "InvalidStateError");
    }
    close(..._reason: unknown[]): void {
      if (this.#fields["readyState"] === 0) this.#fields["readyState"] = STATES.CLOSING;
    }
  }

  class EventSource extends events.EventTarget {
    readonly #fields: Fields;
    static {
      const keys = ["readyState", ...Object.keys(SOURCE_STATES), "url", "withCredentials"];
      defineGetters(EventSource, keys, (source: EventSource) => source.#fields, ["close"]);
    }
    constructor(url: unknown, init: unknown = undefined) {
      const prefix = "Failed to construct 'EventSource'";
      requireArguments(arguments.length, 1, prefix);
      super();
      const text = scalarString(url);
      const { ...options } = readInit(init, prefix, "Argument 2");
      this.#fields = { ...SOURCE_STATES, readyState: 0, url: parse(text), ...options };
      setTimeout(() => {
        if (this.#fields["readyState"] !== SOURCE_STATES.CLOSED)
          this.dispatchEvent(new events.Event("error"));
      }, 0);
    }
    close(): void {
      this.#fields["readyState"] = SOURCE_STATES.CLOSED;
    }
  }

  moveToEnd(WebSocket, ["binaryType", "bufferedAmount", "send", "close"]);
  for (const [type, states, handlers, shown] of [
    [
      WebSocket,
      STATES,
      "message error close open",
      "url readyState extensions protocol binaryType bufferedAmount",
    ],
    [EventSource, SOURCE_STATES, "open message error", "readyState url withCredentials"],
  ] as const) {
    for (const [name, value] of Object.entries(states)) Object.defineProperty(type, name, { value });
    exposeInterface(type);
    for (const name of handlers.split(" ")) events.handlerAttribute(type.prototype, name);
    printGetters(type, [...shown.split(" "), ...handlers.split(" ").map((name) => `on${name}`)]);
  }
  Object.defineProperty(WebSocket, "length", { value: 2, configurable: true });
  for (const key of Object.getOwnPropertyNames(EventSource.prototype))
    if (!key.startsWith("on")) Object.defineProperty(EventSource.prototype, key, { enumerable: false });
  delete (EventSource.prototype as { [Symbol.toStringTag]?: string })[Symbol.toStringTag];
  return { WebSocket, EventSource };
}

/** Converts the second argument of `WebSocket`: a protocol, a list of them, or a dictionary. */
function readProtocols(value: unknown, prefix: string): readonly string[] {
  if (value === undefined || value === null) return [];
  if (typeof value !== "object") return [string(value)];
  return Symbol.iterator in value
    ? sequence(string)(value, prefix, "Argument 2")
    : (readSocketInit(value, prefix, "Argument 2").protocols ?? []);
}
