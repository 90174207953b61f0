import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A message as it arrived. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly id: string;
}

/** A dapp's server. */
export interface Receiver {
  readonly url: string;
  /** Host and port, as `allowHosts` takes them. */
  readonly host: string;
  readonly received: readonly Received[];
  /** Resolves once this many messages have come to a path. */
  count(path: string, atLeast: number): Promise<readonly Received[]>;
  /** Forgets what was received. */
  clear(): void;
  close(): Promise<void>;
}

/** Answers a message. */
export type Answer = (response: ServerResponse, message: Received) => void | Promise<void>;

/** How long {@link Receiver.count} waits. */
const PATIENCE_MS = 60_000;

/** Starts a server that answers each path in its own way, any other with 204. @param port default: a free one. */
export async function startReceiver(
  answers: Readonly<Record<string, Answer>> = {},
  port = 0,
): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const { url: path = "", headers } = request;
      const message = { path, headers, body, id: String(headers["webhook-id"]) };
      received.push(message);
      void (answers[path] ?? ((to) => void to.writeHead(204).end()))(response, message);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(port, "127.0.0.1", resolve);
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}`,
    host,
    received,
    async count(path, atLeast) {
      for (const deadline = Date.now() + PATIENCE_MS; ; await sleep(10)) {
        const its = received.filter((one) => one.path === path);
        if (its.length >= atLeast) return its;
        if (Date.now() > deadline) throw new Error(`${its.length} of ${atLeast} messages came to ${path}`);
      }
    },
    clear: () => void received.splice(0),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
