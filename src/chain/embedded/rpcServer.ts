import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { messageOf } from "../../lib/errors.ts";
import { AnswerError } from "../connection.ts";
import { refusalOf } from "./methods.ts";

/** Largest request, room for any transaction and for a batch of calls. */
const MAX_BODY_BYTES = 16 * 2 ** 20;
const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers": "*",
  "access-control-allow-methods": "POST, OPTIONS",
};

/** The port of an embedded chain that everybody's tools use. */
export interface RpcServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Options of {@link startRpcServer}. */
export interface RpcServerOptions {
  readonly host: string;
  /** Port to take if it is free; otherwise the system picks one. */
  readonly preferredPort: number;
  readonly request: (method: string, parameters: readonly unknown[]) => Promise<unknown>;
  /** Port of the node itself, for WebSockets, which are passed through; `undefined` while it is down. */
  readonly nodePort: () => number | undefined;
}

/**
 * Serves JSON-RPC over HTTP in front of a node of ours: the port outlives the node's process, requests wait where the chain
 * must stand still, and what the node has forgotten is still answered. WebSockets go straight to the node.
 */
export async function startRpcServer(options: RpcServerOptions): Promise<RpcServer> {
  const { host, preferredPort, request, nodePort } = options;
  const sockets = new Set<Socket>();
  const server = createServer((incoming, response) => {
    serve(incoming, response, request).catch(() => response.destroy());
  });
  server.on("upgrade", (incoming, socket: Socket, head) => {
    const port = nodePort();
    if (port === undefined) {
      socket.destroy();
      return;
    }
    const node = connect(port, host, () => {
      const headers = [];
      for (let i = 0; i < incoming.rawHeaders.length; i += 2)
        headers.push(`${incoming.rawHeaders[i]}: ${incoming.rawHeaders[i + 1]}\r\n`);
      node.write(`${incoming.method} ${incoming.url} HTTP/1.1\r\n${headers.join("")}\r\n`);
      node.write(head);
      node.pipe(socket).pipe(node);
    });
    for (const one of [node, socket]) {
      one.setNoDelay(true);
      sockets.add(one);
      one.on("error", () => {});
      one.on("close", () => {
        sockets.delete(one);
        node.destroy();
        socket.destroy();
      });
    }
  });

  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, () => {
        server.off("error", reject);
        resolve();
      });
    });
  await listen(preferredPort).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EADDRINUSE" && error.code !== "EACCES") throw error;
    return listen(0);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        for (const socket of sockets) socket.destroy();
      }),
  };
}

async function serve(
  incoming: IncomingMessage,
  response: ServerResponse,
  request: RpcServerOptions["request"],
): Promise<void> {
  if (incoming.method === "OPTIONS") {
    response.writeHead(204, CORS).end();
    return;
  }
  if (incoming.method !== "POST") {
    response.writeHead(405, { ...CORS, allow: "POST, OPTIONS" }).end();
    return;
  }
  const body = await readBody(incoming);
  if (body === undefined) {
    response.writeHead(413, CORS).end();
    return;
  }
  let call: unknown;
  try {
    call = JSON.parse(body);
  } catch {
    reply(response, failure(null, -32700, "Parse error"));
    return;
  }
  if (!Array.isArray(call)) reply(response, await answer(call, request));
  else if (call.length === 0) reply(response, failure(null, -32600, "Invalid Request"));
  else reply(response, await Promise.all(call.map((one) => answer(one, request))));
}

async function answer(call: unknown, request: RpcServerOptions["request"]): Promise<object> {
  const {
    id = null,
    method,
    params = [],
  } = (call ?? {}) as { id?: unknown; method?: unknown; params?: unknown };
  if (typeof method !== "string") return failure(id, -32600, "Invalid Request");
  // Over HTTP there is nobody to push to.
  if (/^eth_(?:un)?subscribe$/.test(method)) return failure(id, -32601, "Method not found");
  const refusal = refusalOf(method);
  // EIP-1474: method not supported.
  if (refusal !== undefined) return failure(id, -32004, refusal);
  try {
    // Named parameters are no list; the node itself says what it makes of them.
    return { jsonrpc: "2.0", id, result: await request(method, params as readonly unknown[]) };
  } catch (error) {
    if (error instanceof AnswerError) return failure(id, error.code, error.message, error.data);
    return failure(id, -32603, messageOf(error));
  }
}

function failure(id: unknown, code: number, message: string, data?: unknown): object {
  return { jsonrpc: "2.0", id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

function reply(response: ServerResponse, answer: object): void {
  const text = JSON.stringify(answer);
  response
    .writeHead(200, {
      ...CORS,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
    })
    .end(text);
}

async function readBody(incoming: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
