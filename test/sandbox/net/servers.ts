import { createServer } from "node:http";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { afterAll } from "vitest";

/** An HTTP server on 127.0.0.1 that counts the connections it receives. */
export interface CountingServer {
  readonly port: number;
  /** `127.0.0.1:port`, as an operator would allow it. */
  readonly host: string;
  readonly origin: string;
  connections(): number;
}

/** Starts a server, which is closed when the test file ends. */
export async function startServer(listener: RequestListener): Promise<CountingServer> {
  const server = createServer(listener);
  let connections = 0;
  server.on("connection", () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const host = `127.0.0.1:${port}`;
  return { port, host, origin: `http://${host}`, connections: () => connections };
}

/** Answers with what it received: method, path, raw headers, body. */
export async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const { method, url, rawHeaders: headers } = request;
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString() }));
}

/** Counts every connection that this process opens, TCP and TLS, at the one method that all of them use. */
export function countSockets(): { readonly opened: () => number; readonly restore: () => void } {
  const prototype = Socket.prototype as unknown as { connect: (this: Socket, ...args: unknown[]) => Socket };
  const original = prototype.connect;
  let opened = 0;
  prototype.connect = function connect(...args) {
    opened += 1;
    return original.apply(this, args);
  };
  return {
    opened: () => opened,
    restore: () => {
      prototype.connect = original;
    },
  };
}
