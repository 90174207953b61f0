import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSocketServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { WebSocket, WebSocketServer } from "ws";
import { RpcError } from "../../src/lib/nodeAnswers.ts";
import type { TestChain } from "./anvil.ts";

/** A JSON-RPC request on its way to the node. */
export interface Call {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What goes wrong with a call. Unless `reach` is false, the node still gets it and acts on it. */
export interface Fault {
  /** Whether the call reaches the node. Default: true, unless the fault has an `error` or `status`. */
  readonly reach?: boolean;
  /** Parameters to send to the node instead. */
  readonly params?: readonly unknown[];
  /** The caller never gets the answer. */
  readonly dropAnswer?: boolean;
  /** How often the caller gets the answer; on WebSocket and Unix socket only. */
  readonly times?: number;
  /** How often the node gets the call; the caller gets the last answer. */
  readonly callTimes?: number;
  /** Delay of the answer. */
  readonly delayMs?: number;
  /** The answer waits for this promise. */
  readonly until?: Promise<unknown>;
  /** The connection breaks instead of an answer. */
  readonly breakLine?: boolean;
  /** JSON-RPC error instead of the answer. */
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  /** HTTP status instead of 200, with an empty body; on WebSocket and Unix socket JSON-RPC error -32005 instead. */
  readonly status?: number;
  /** HTTP only: this body instead of the answer, such as a gateway's error page. */
  readonly page?: string;
  /** Changes the result. */
  readonly result?: (result: unknown) => unknown;
}

/** Decides what happens to each call; `undefined` leaves it alone. */
export type FaultRule = (call: Call) => Fault | undefined;

/** A real node behind a proxy that can be made to fail: HTTP, WebSocket and Unix socket. */
export interface FaultyNode {
  readonly httpUrl: string;
  readonly wsUrl: string;
  readonly ipcPath: string;
  /** Every call received, with or without faults. */
  readonly calls: Call[];
  /** Adds a rule and returns a function that removes it; the first rule that returns a fault wins. */
  inject(rule: FaultRule): () => void;
  /** Closes every WebSocket and Unix socket connection. */
  breakLines(): void;
  /**
   * Silences the WebSocket and Unix socket connections that are open, in both directions, without closing them. New
   * ones work.
   */
  freezeLines(): void;
  /** Stops pushing messages to the WebSocket and Unix socket connections that are open. New ones still get them. */
  loseSubscriptions(): void;
  close(): Promise<void>;
}

/** Returns a rule that applies a fault to the first `count` calls of one method. */
export function first(count: number, method: string, fault: Fault): FaultRule {
  let left = count;
  return (call) => (call.method === method && left-- > 0 ? fault : undefined);
}

/** Returns a rule that applies a fault to every call of one method. */
export function every(method: string, fault: Fault): FaultRule {
  return (call) => (call.method === method ? fault : undefined);
}

interface Line {
  send(text: string): void;
  close(): void;
  frozen: boolean;
  deaf: boolean;
}

type Message = { id?: unknown; method?: string; params?: unknown[] };

/** Starts a faulty proxy in front of a chain's node. */
export async function startFaultyNode(chain: Pick<TestChain, "rpcUrl" | "client">): Promise<FaultyNode> {
  const rules = new Set<FaultRule>();
  const calls: Call[] = [];
  const lines = new Set<Line>();
  const folder = mkdtempSync(join(tmpdir(), "tyche-line-"));
  const ipcPath = join(folder, "ipc");

  const faultOf = (call: Call): Fault => {
    calls.push(call);
    for (const rule of rules) {
      const fault = rule(call);
      if (fault !== undefined) return fault;
    }
    return {};
  };

  /** Answers a message with the faults that apply; without `text`, there is no answer. */
  const answer = async (message: Message): Promise<{ text?: string; fault: Fault }> => {
    const call = { method: message.method!, params: message.params ?? [] };
    const fault = faultOf(call);
    const reaches = fault.reach ?? (fault.error === undefined && fault.status === undefined);
    let body: object = { error: { code: -32_000, message: "no answer" } };
    if (reaches) {
      const params = fault.params ?? call.params;
      for (let i = 1; i < (fault.callTimes ?? 1); i += 1) {
        await chain.client.request(call.method, params).catch(() => {});
      }
      body = await chain.client.request(call.method, params).then(
        (result) => ({ result: fault.result === undefined ? result : fault.result(result) }),
        (error: unknown) => ({ error: errorOf(error) }),
      );
    }
    if (fault.status !== undefined) body = { error: { code: -32_005, message: `status ${fault.status}` } };
    if (fault.error !== undefined) body = { error: fault.error };
    if (fault.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, fault.delayMs));
    await fault.until;
    if (fault.dropAnswer === true) return { fault };
    return { fault, text: JSON.stringify({ jsonrpc: "2.0", id: message.id, ...body }) };
  };

  const onHttp = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { text, fault } = await answer(JSON.parse(Buffer.concat(chunks).toString()) as Message);
    if (fault.breakLine === true) response.destroy();
    else if (fault.page !== undefined)
      response.writeHead(fault.status ?? 200, { "content-type": "text/html" }).end(fault.page);
    else if (fault.status !== undefined) response.writeHead(fault.status).end();
    else if (text !== undefined) response.writeHead(200, { "content-type": "application/json" }).end(text);
  };

  /** Opens a WebSocket or Unix socket connection: subscriptions go through to the node on a connection of their own. */
  const openLine = (send: (text: string) => void, close: () => void) => {
    const pushes = new WebSocket(chain.rpcUrl.replace("http", "ws"));
    const ready = new Promise((resolve) => pushes.once("open", resolve));
    const subscribing = new Map<number, unknown>();
    const line: Line = {
      frozen: false,
      deaf: false,
      send: (text) => {
        if (!line.frozen) send(text);
      },
      close: () => {
        lines.delete(line);
        pushes.terminate();
        close();
      },
    };
    lines.add(line);
    let lastPushId = 0;
    pushes.on("error", () => {});
    pushes.on("message", (data) => {
      const message = JSON.parse((data as Buffer).toString()) as Message & { result?: unknown };
      if (message.method === "eth_subscription") {
        if (!line.deaf) line.send(JSON.stringify(message));
        return;
      }
      const id = subscribing.get(message.id as number);
      if (id !== undefined) line.send(JSON.stringify({ ...message, id }));
    });
    const onText = async (text: string): Promise<void> => {
      if (line.frozen) return;
      const message = JSON.parse(text) as Message;
      if (/^eth_(un)?subscribe$/.test(message.method!)) {
        const fault = faultOf({ method: message.method!, params: message.params ?? [] });
        if (fault.error !== undefined) {
          line.send(JSON.stringify({ jsonrpc: "2.0", id: message.id, error: fault.error }));
          return;
        }
        await ready;
        subscribing.set(++lastPushId, message.id);
        pushes.send(JSON.stringify({ ...message, id: lastPushId }));
        return;
      }
      const { text: reply, fault } = await answer(message);
      if (fault.breakLine === true) line.close();
      else if (reply !== undefined) for (let i = 0; i < (fault.times ?? 1); i += 1) line.send(reply);
    };
    return { line, onText };
  };

  const http = createHttpServer((request, response) => {
    onHttp(request, response).catch(() => response.destroy());
  });
  // After a pause of the machine, an idle connection would be closed while a call is sent on it: a fault that no test asked for.
  http.keepAliveTimeout = 0;
  new WebSocketServer({ server: http }).on("connection", (socket) => {
    const { line, onText } = openLine(
      (text) => socket.send(text),
      () => socket.terminate(),
    );
    socket.on("message", (data) => void onText((data as Buffer).toString()).catch(() => {}));
    socket.on("close", () => line.close());
    socket.on("error", () => {});
  });
  const unix = createSocketServer((socket: Socket) => {
    const { line, onText } = openLine(
      (text) => void socket.write(`${text}\n`),
      () => void socket.destroy(),
    );
    // readline emits the socket's errors too, besides lines.
    createInterface({ input: socket })
      .on("line", (text) => void onText(text).catch(() => {}))
      .on("error", () => {});
    socket.on("close", () => line.close());
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  await new Promise<void>((resolve) => unix.listen(ipcPath, resolve));
  const { port } = http.address() as AddressInfo;

  return {
    httpUrl: `http://127.0.0.1:${port}`,
    wsUrl: `ws://127.0.0.1:${port}`,
    ipcPath,
    calls,
    inject(rule) {
      rules.add(rule);
      return () => rules.delete(rule);
    },
    breakLines() {
      for (const line of lines) line.close();
    },
    freezeLines() {
      for (const line of lines) line.frozen = true;
    },
    loseSubscriptions() {
      for (const line of lines) line.deaf = true;
    },
    async close() {
      for (const line of lines) line.close();
      http.closeAllConnections();
      await Promise.all([
        new Promise((resolve) => http.close(resolve)),
        new Promise((resolve) => unix.close(resolve)),
      ]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The node's own error, unchanged. */
function errorOf(error: unknown): object {
  const cause = error instanceof RpcError ? error.cause : error;
  const { code, message, data } = cause as { code?: number; message: string; data?: unknown };
  return { code: code ?? -32_603, message, ...(data === undefined ? {} : { data }) };
}
