import { connect } from "node:net";
import { hasTooManyValues } from "../lib/nodeAnswers.ts";
import { isObject } from "../lib/isObject.ts";

/** "Limit exceeded" of EIP-1474, used for answers that are longer than the caller accepts. */
const LIMIT_EXCEEDED = -32_005;
/** Length kept from the start of an oversized answer: it contains the request's id. */
const HEAD_CHARS = 100;
/** Delay before reconnecting. */
const RECONNECT_MS = 100;

/** Carries requests to a node; without `subscribe`, the node can't push. */
export interface Transport {
  request(method: string, parameters: readonly unknown[]): Promise<unknown>;
  /** Asks every node that can be asked; returns their answers, at least one. Absent where there is one node. */
  requestEach?(method: string, parameters: readonly unknown[]): Promise<readonly unknown[]>;
  /** Returns `undefined` when nothing can be pushed at the moment. */
  subscribe?(
    parameters: readonly unknown[],
    onData: (result: unknown) => void,
  ): Promise<(() => void) | undefined>;
  close(): void;
}

/** JSON-RPC 2.0 over one persistent connection. */
export interface Connection extends Transport {
  request(this: void, method: string, parameters: readonly unknown[]): Promise<unknown>;
  /** Calls back with the payload of each message of a subscription, resubscribing after a broken connection. */
  subscribe(parameters: readonly unknown[], onData: (result: unknown) => void): Promise<() => void>;
  close(): void;
}

/** The node's own error response. */
export class AnswerError extends Error {
  /** JSON-RPC 2.0, section 5.1; most nodes use 3 for a reverted call. */
  readonly code: number;
  readonly data: unknown;
  constructor(message: string, code: number, data: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Creates the error of an answer whose `error` is an object. Its members may have any type: in some, converting them to text throws. */
export function answerErrorOf({ message, code, data }: Readonly<Record<string, unknown>>): AnswerError {
  const reason = typeof message === "string" ? message : "the node gives no reason";
  return new AnswerError(reason, typeof code === "number" ? code : Number.NaN, data);
}

/** Says that an answer is too long, or has too many values, to be read. */
export const TOO_LONG = "the answer is too long; ask for less";

/** Creates the error of an answer that is too long to be read. */
export function longAnswerError(): AnswerError {
  return new AnswerError(TOO_LONG, LIMIT_EXCEEDED, undefined);
}

/** The connection broke before the answer arrived; whether the node received the request is unknown. */
export class BrokenConnectionError extends Error {
  constructor(message = "the connection to the node broke") {
    super(message);
  }
}

/** An open line to a node that carries whole texts. */
interface Line {
  send(text: string): void;
  close(): void;
}

interface LineEvents {
  readonly onText: (text: string) => void;
  /** Called instead of `onText` for an oversized text, with its start. */
  readonly onLongText: (head: string) => void;
  readonly onClose: () => void;
}

/**
 * Connects to a node's Unix socket, with one message per line, as geth and Anvil speak it. Embedded chains are reached this way
 * because TCP delays a small message by up to 40 ms when an answer and a pushed head follow each other (Nagle's algorithm at
 * Anvil, delayed acknowledgement here).
 *
 * @param timeoutMs how long an answer may take.
 * @param maxAnswerChars longest accepted answer, in UTF-16 units; a longer one is neither kept nor parsed, and the request
 * rejects with {@link AnswerError}. Default: no limit.
 */
export function openUnixSocket(path: string, timeoutMs: number, maxAnswerChars = Infinity): Connection {
  return openConnection(timeoutMs, ({ onText, onLongText, onClose }) => {
    const socket = connect(path).setEncoding("utf8");
    let parts: string[] = [];
    let chars = 0;
    const add = (part: string): void => {
      const wasLong = chars > maxAnswerChars;
      chars += part.length;
      if (!wasLong) parts.push(part);
      if (!wasLong && chars > maxAnswerChars) parts = [parts.join("").slice(0, HEAD_CHARS)];
    };
    socket.on("data", (chunk: string) => {
      const lines = chunk.split("\n");
      for (const [at, line] of lines.entries()) {
        add(line);
        if (at === lines.length - 1) break;
        const text = parts.join("");
        if (chars > maxAnswerChars) onLongText(text);
        else onText(text);
        parts = [];
        chars = 0;
      }
    });
    socket.on("error", () => {});
    socket.on("close", onClose);
    return { send: (text) => void socket.write(`${text}\n`), close: () => void socket.destroy() };
  });
}

/** Connects to a node by `ws:` or `wss:` URL. */
export function openWebSocket(url: string, timeoutMs: number): Connection {
  return openConnection(timeoutMs, ({ onText, onLongText, onClose }) => {
    const socket = new WebSocket(url);
    let early: string[] | undefined = [];
    socket.addEventListener("open", () => {
      for (const text of early ?? []) socket.send(text);
      early = undefined;
    });
    socket.addEventListener("message", ({ data }) => {
      if (typeof data !== "string") return;
      if (hasTooManyValues(data)) onLongText(data.slice(0, HEAD_CHARS));
      else onText(data);
    });
    socket.addEventListener("error", onClose);
    socket.addEventListener("close", onClose);
    return {
      send: (text) => void (early === undefined ? socket.send(text) : early.push(text)),
      // The peer may have disappeared silently, so nobody waits for its close frame.
      close: () => socket.close(),
    };
  });
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
  readonly timer: NodeJS.Timeout;
}

interface Subscription {
  readonly parameters: readonly unknown[];
  readonly onData: (result: unknown) => void;
  /** The node's id for it on the current line. */
  id?: string;
}

/** Numbers requests, matches answers to them, and reopens the line when it breaks. */
function openConnection(timeoutMs: number, openLine: (events: LineEvents) => Line): Connection {
  const waiting = new Map<number, Waiting>();
  const subscriptions = new Map<string, Subscription>();
  const wanted = new Set<Subscription>();
  let line: Line | undefined;
  let lastId = 0;
  let lastTextAt = 0;
  let closed = false;
  let retry: NodeJS.Timeout | undefined;

  const open = (): Line => {
    const opened: Line = openLine({
      onText(text) {
        if (line !== opened) return;
        lastTextAt = performance.now();
        take(text);
      },
      onLongText(head) {
        if (line !== opened) return;
        lastTextAt = performance.now();
        refuseLong(head);
      },
      onClose: () => drop(opened),
    });
    return opened;
  };

  /** Rejects all requests that wait on a broken line at once, and resubscribes on a new one. */
  const drop = (dropped: Line): void => {
    if (line !== dropped) return;
    line = undefined;
    dropped.close();
    subscriptions.clear();
    for (const asker of waiting.values()) {
      clearTimeout(asker.timer);
      asker.reject(new BrokenConnectionError());
    }
    waiting.clear();
    if (!closed && wanted.size > 0) scheduleResubscribe();
  };

  const scheduleResubscribe = (): void => {
    clearTimeout(retry);
    retry = setTimeout(() => {
      for (const subscription of wanted) {
        if (subscription.id === undefined || !subscriptions.has(subscription.id)) {
          start(subscription).catch(() => {
            if (!closed && wanted.has(subscription)) scheduleResubscribe();
          });
        }
      }
    }, RECONNECT_MS);
  };

  const refuseLong = (head: string): void => {
    const id = /^\{"jsonrpc":"2\.0","id":(\d+),/.exec(head)?.[1];
    const asker = takeAsker(Number(id));
    asker?.reject(longAnswerError());
  };

  /** Removes and returns whoever waits for the answer; a second answer to the same request finds nobody. */
  const takeAsker = (id: unknown): Waiting | undefined => {
    const asker = waiting.get(id as number);
    if (asker === undefined) return undefined;
    waiting.delete(id as number);
    clearTimeout(asker.timer);
    return asker;
  };

  const take = (text: string): void => {
    if (text === "") return;
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      message = undefined;
    }
    if (!isObject(message)) {
      // The messages that follow can't be told apart any more.
      if (line !== undefined) drop(line);
      return;
    }
    const { id, params, error, result } = message;
    if (isObject(params)) {
      const { subscription } = params;
      if (typeof subscription === "string") subscriptions.get(subscription)?.onData(params["result"]);
      return;
    }
    const asker = takeAsker(id);
    if (isObject(error)) asker?.reject(answerErrorOf(error));
    else if (result === undefined) asker?.reject(new Error("the node's answer has neither result nor error"));
    else asker?.resolve(result);
  };

  const request = (method: string, parameters: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (closed) {
        reject(new Error("the connection to the node is closed"));
        return;
      }
      line ??= open();
      const asked = line;
      const sentAt = performance.now();
      const id = ++lastId;
      const timer = setTimeout(() => {
        waiting.delete(id);
        reject(new Error(`no answer within ${timeoutMs} ms`));
        // Not a single message in all that time: the peer may have gone away without closing the connection.
        if (lastTextAt < sentAt) drop(asked);
      }, timeoutMs);
      waiting.set(id, { resolve, reject, timer });
      line.send(JSON.stringify({ jsonrpc: "2.0", id, method, params: parameters }));
    });

  const start = async (subscription: Subscription): Promise<void> => {
    const id = await request("eth_subscribe", subscription.parameters);
    if (!wanted.has(subscription)) return;
    if (typeof id !== "string") throw new Error("the answer is not the id of a subscription");
    subscription.id = id;
    subscriptions.set(id, subscription);
  };

  return {
    request,
    async subscribe(parameters, onData) {
      const subscription: Subscription = { parameters, onData };
      wanted.add(subscription);
      try {
        await start(subscription);
      } catch (error) {
        wanted.delete(subscription);
        throw error;
      }
      return () => {
        wanted.delete(subscription);
        const { id } = subscription;
        if (id === undefined || !subscriptions.delete(id) || closed) return;
        request("eth_unsubscribe", [id]).catch(() => {});
      };
    },
    close() {
      closed = true;
      clearTimeout(retry);
      if (line !== undefined) drop(line);
    },
  };
}
