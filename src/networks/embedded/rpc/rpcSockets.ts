import { STATUS_CODES, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { WebSocketServer, type WebSocket } from "ws";
import { AnswerError } from "../../../evm/connection.ts";
import { repeat } from "../../../lib/repeat.ts";
import type { RpcAccess } from "./rpcAccess.ts";
import { MAX_MESSAGE_BYTES, answerMessage } from "./rpcCalls.ts";
import { RPC_CODES, RpcLimitError, type RpcRequest } from "../rpcErrors.ts";
import type { UnsentBudget } from "./unsentBudget.ts";

const MAX_SOCKETS = 256;
const MAX_SUBSCRIPTIONS = 64;
/** Messages of one socket that wait for their answers. */
const MAX_UNDER_WAY = 256;
/** Unsent bytes buffered for one slow reader; beyond that it is disconnected. */
const MAX_UNSENT_BYTES = 64 * 2 ** 20;
/** A socket that doesn't answer a ping within this time is dead. */
const PING_INTERVAL_MS = 30_000;

/** Subscribes to what `eth_subscribe` names; returns a function that ends the subscription. */
export type Subscribe = (
  parameters: readonly unknown[],
  onData: (result: unknown) => void,
) => Promise<() => void>;

/** The WebSockets of one chain. */
export interface RpcSockets {
  /** Upgrades a request to a WebSocket, or refuses it. */
  upgrade(incoming: IncomingMessage, socket: Socket, head: Buffer): void;
  /** Terminates all of them at once. */
  close(): void;
}

/** Serves JSON-RPC over WebSockets: the same calls as over HTTP, plus subscriptions. */
export function serveRpcSockets({
  access,
  request,
  subscribe,
  unsent,
}: {
  readonly access: RpcAccess;
  readonly request: RpcRequest;
  readonly subscribe: Subscribe;
  readonly unsent: UnsentBudget;
}): RpcSockets {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  const alive = new WeakSet<WebSocket>();
  const ping = async (): Promise<void> => {
    for (const socket of server.clients) {
      if (!alive.delete(socket)) socket.terminate();
      else socket.ping();
    }
  };
  const stopPings = repeat(ping, PING_INTERVAL_MS, () => {});

  const serve = (socket: WebSocket): void => {
    alive.add(socket);
    let isClosed = false;
    const connection = unsent.open(() => socket.terminate());
    const send = (text: string): void => {
      if (socket.readyState !== socket.OPEN) return;
      if (socket.bufferedAmount > MAX_UNSENT_BYTES) {
        socket.terminate();
        return;
      }
      socket.send(text, () => connection.hold(isClosed ? 0 : socket.bufferedAmount));
      connection.hold(socket.bufferedAmount);
    };
    const subscriptions = createSubscriptions(send, subscribe);
    let underWay = 0;
    socket.on("pong", () => alive.add(socket));
    socket.on("error", () => socket.terminate());
    socket.on("close", () => {
      isClosed = true;
      subscriptions.close();
      connection.hold(0);
    });
    socket.on("message", (data) => {
      alive.add(socket);
      if (underWay >= MAX_UNDER_WAY) {
        socket.close(1013, `at most ${MAX_UNDER_WAY} messages may wait for their answers`);
        return;
      }
      underWay += 1;
      const begun: string[] = [];
      void answerMessage((data as Buffer).toString(), async (method, parameters) => {
        if (method === "eth_subscribe") {
          const id = await subscriptions.add(parameters);
          begun.push(id);
          return id;
        }
        if (method === "eth_unsubscribe") return subscriptions.remove(parameters[0]);
        return request(method, parameters);
      })
        .then((answer) => {
          underWay -= 1;
          send(answer);
          for (const id of begun) subscriptions.begin(id);
        })
        // A message that has no answer must not end the service.
        .catch(() => socket.terminate());
    });
  };

  return {
    upgrade(incoming, socket, head) {
      const refusal = access.refusalOf(incoming);
      if (refusal !== undefined) refuse(socket, refusal.status, refusal.message);
      else if (server.clients.size >= MAX_SOCKETS)
        refuse(socket, 503, `there are ${MAX_SOCKETS} WebSockets to this chain already; close one`);
      else server.handleUpgrade(incoming, socket, head, serve);
    },
    close() {
      stopPings();
      for (const socket of server.clients) socket.terminate();
      server.close();
    },
  };
}

/**
 * The subscriptions of one socket. Notifications that arrive before the client knows the subscription's id wait for
 * {@link begin}.
 */
function createSubscriptions(send: (text: string) => void, subscribe: Subscribe) {
  const running = new Map<string, { readonly stop: () => void; early: unknown[] | undefined }>();
  let lastId = 0;
  let isClosed = false;

  const tell = (subscription: string, result: unknown): void =>
    send(JSON.stringify({ jsonrpc: "2.0", method: "eth_subscription", params: { subscription, result } }));

  return {
    async add(parameters: readonly unknown[]): Promise<string> {
      if (running.size >= MAX_SUBSCRIPTIONS)
        throw new RpcLimitError(`a WebSocket has at most ${MAX_SUBSCRIPTIONS} subscriptions; end one first`);
      if (!Array.isArray(parameters))
        throw new AnswerError("eth_subscribe takes a list of parameters", RPC_CODES.invalidParams, undefined);
      lastId += 1;
      const id = `0x${lastId.toString(16)}`;
      const stop = { now: (): void => {} };
      const entry = { stop: () => stop.now(), early: [] as unknown[] | undefined };
      running.set(id, entry);
      try {
        stop.now = await subscribe(parameters, (result) => {
          if (!running.has(id)) return;
          if (entry.early === undefined) tell(id, result);
          else entry.early.push(result);
        });
      } catch (error) {
        running.delete(id);
        throw error;
      }
      if (isClosed) stop.now();
      return id;
    },
    remove(id: unknown): boolean {
      const entry = running.get(id as string);
      entry?.stop();
      return running.delete(id as string);
    },
    begin(id: string): void {
      const entry = running.get(id);
      if (entry === undefined) return;
      const { early } = entry;
      entry.early = undefined;
      for (const result of early ?? []) tell(id, result);
    },
    close(): void {
      isClosed = true;
      for (const { stop } of running.values()) stop();
      running.clear();
    },
  };
}

function refuse(socket: Socket, status: number, message: string): void {
  socket.on("error", () => {});
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(message)}\r\n\r\n${message}`,
  );
}
