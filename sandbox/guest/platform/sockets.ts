import { boolean, dictionary, scalarString, sequence, string } from "../convert.ts";
import type { Internals } from "../internals.ts";
import { defineGetters, exposeInterface, moveToEnd, printGetters, requireArguments } from "../webIdl.ts";

interface Events {
  readonly EventTarget: new () => { dispatchEvent(event: object): boolean };
  readonly Event: new (type: string) => object;
  readonly CloseEvent: new (type: string, init: object) => object;
  readonly handlerAttribute: (prototype: object, type: string) => void;
}

const STATES = { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 };
const SOURCE_STATES = { CONNECTING: 0, OPEN: 1, CLOSED: 2 };
const HANDLERS = ["message", "error", "close", "open"];
const TOKEN = /^[!#$%&'*+.^`|~\w-]+$/;
const readSourceInit = dictionary<{ withCredentials: boolean }>("EventSourceInit", {
  withCredentials: [boolean, false],
});
const readInit = dictionary<{ protocols?: string[] }>("WebSocketInit", {
  protocols: [sequence(string)],
});

/** Creates `WebSocket` and `EventSource`, whose connections always fail: sources reach the network only through requests. */
export function createSockets({ load, setTimeout, exception, encodeUtf8 }: Internals, events: Events) {
  /** Parses a connection's URL. */
  function parse(text: string): { href: string; protocol: string; hash: string } {
    const { URL } = load("url") as { URL: new (url: string) => ReturnType<typeof parse> };
    try {
      return new URL(text);
    } catch (error) {
      throw exception((error as Error).message, "SyntaxError");
    }
  }

  class WebSocket extends events.EventTarget {
    readonly #fields: Record<string, unknown>;
    #binaryType = "blob";
    static {
      const keys = ["readyState", ...Object.keys(STATES), "extensions", "protocol", "url", "bufferedAmount"];
      defineGetters(WebSocket, keys, (socket: WebSocket) => socket.#fields);
    }
    constructor(url: unknown, protocols: unknown = undefined) {
      const prefix = "Failed to construct 'WebSocket'";
      requireArguments(arguments.length, 1, prefix);
      super();
      const text = scalarString(url, prefix, "Argument 1");
      const names = readProtocols(protocols, prefix);
      const parsed = parse(text);
      const href = parsed.href.replace(/^http/, "ws");
      if (!/^wss?:/.test(href))
        throw exception(
          `Only ws & wss schemes are allowed in a WebSocket URL: received ${parsed.protocol}`,
          "SyntaxError",
        );
      if (parsed.hash !== "" || href.endsWith("#"))
        throw exception("Fragments are not allowed in a WebSocket URL", "SyntaxError");
      if (new Set(names.map((name) => name.toLowerCase())).size < names.length)
        throw exception("Cannot supply the same protocol multiple times", "SyntaxError");
      if (names.some((name) => !TOKEN.test(name))) throw exception("Invalid protocol value", "SyntaxError");
      const fields = {
        ...STATES,
        readyState: STATES.CONNECTING,
        extensions: "",
        protocol: "",
        url: href,
        bufferedAmount: 0,
      };
      this.#fields = fields;
      setTimeout(() => {
        fields.readyState = STATES.CLOSED;
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
      if (this.#fields["readyState"] !== STATES.OPEN)
        throw exception("'readyState' not OPEN", "InvalidStateError");
    }
    close(...[code, reason]: [unknown?, unknown?]): void {
      const number = Number(code);
      if (code !== undefined && number !== 1000 && !(number >= 3000 && number <= 4999))
        throw exception(
          `The close code must be either 1000 or in the range of 3000 to 4999: received ${number}`,
          "InvalidAccessError",
        );
      if (reason !== undefined && encodeUtf8(scalarString(reason)).length > 123)
        throw exception("The close reason may not be longer than 123 bytes", "SyntaxError");
      if (this.#fields["readyState"] === STATES.CONNECTING) this.#fields["readyState"] = STATES.CLOSING;
    }
  }

  class EventSource extends events.EventTarget {
    readonly #fields: Record<string, unknown>;
    static {
      const keys = ["readyState", ...Object.keys(SOURCE_STATES), "url", "withCredentials"];
      defineGetters(EventSource, keys, (source: EventSource) => source.#fields, ["close"]);
    }
    constructor(url: unknown, init: unknown = undefined) {
      const prefix = "Failed to construct 'EventSource'";
      requireArguments(arguments.length, 1, prefix);
      super();
      const text = scalarString(url, prefix, "Argument 1");
      const { withCredentials } = readSourceInit(init, prefix, "Argument 2");
      const { href } = parse(text);
      this.#fields = { ...SOURCE_STATES, readyState: STATES.CONNECTING, url: href, withCredentials };
      setTimeout(() => {
        if (this.#fields["readyState"] === SOURCE_STATES.CLOSED) return;
        this.#fields["readyState"] = SOURCE_STATES.CLOSED;
        this.dispatchEvent(new events.Event("error"));
      }, 0);
    }
    close(): void {
      this.#fields["readyState"] = SOURCE_STATES.CLOSED;
    }
  }

  moveToEnd(WebSocket, ["binaryType", "bufferedAmount", "send", "close"]);
  const sourceHandlers = ["open", "message", "error"];
  for (const [type, states, handlers] of [
    [WebSocket, STATES, HANDLERS],
    [EventSource, SOURCE_STATES, sourceHandlers],
  ] as const) {
    for (const [name, value] of Object.entries(states)) Object.defineProperty(type, name, { value });
    exposeInterface(type);
    for (const name of handlers) events.handlerAttribute(type.prototype, name);
  }
  Object.defineProperty(WebSocket, "length", { value: 2, configurable: true });
  for (const key of Object.getOwnPropertyNames(EventSource.prototype))
    if (!key.startsWith("on")) Object.defineProperty(EventSource.prototype, key, { enumerable: false });
  delete (EventSource.prototype as { [Symbol.toStringTag]?: string })[Symbol.toStringTag];
  const on = (names: readonly string[]): string[] => names.map((name) => `on${name}`);
  printGetters(WebSocket, [
    ..."url readyState extensions protocol binaryType bufferedAmount".split(" "),
    ...on(HANDLERS),
  ]);
  printGetters(EventSource, ["readyState", "url", "withCredentials", ...on(sourceHandlers)]);
  return { WebSocket, EventSource };
}

/** Converts the second argument of `WebSocket`: a protocol, a list of them, or a dictionary. */
function readProtocols(value: unknown, prefix: string): readonly string[] {
  if (value === undefined || value === null) return [];
  if (typeof value !== "object") return [string(value)];
  return Symbol.iterator in value
    ? sequence(string)(value, prefix, "Argument 2")
    : (readInit(value, prefix, "Argument 2").protocols ?? []);
}
