import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import type { AddressInfo } from "node:net";

/** An HTTP server on a free loopback port that serves the paths used by the cases. */
export interface TestServer {
  /** `http://127.0.0.1:<port>`, without a trailing slash. */
  readonly url: string;
  close(): Promise<void>;
}

type Route = (request: IncomingMessage, response: ServerResponse) => unknown;

const json = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) => response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));

const ROUTES: Record<string, Route> = {
  "/json": (_, response) =>
    json(response, 200, { name: "tyche", price: 1234.56, list: [1, 2, 3], nested: { ok: true } }),
  "/text": (_, response) =>
    response.writeHead(200, { "content-type": "text/plain; charset=utf-8" }).end("plain text ✓"),
  "/bytes": (_, response) =>
    response
      .writeHead(200, { "content-type": "application/octet-stream" })
      .end(Buffer.from([0, 1, 2, 253, 254, 255])),
  "/empty": (_, response) => response.writeHead(204).end(),
  "/notjson": (_, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end("<html>no</html>"),
  "/headers": (_, response) =>
    response.writeHead(200, { "content-type": "text/plain", "x-one": "1", "x-two": "a, b" }).end("headers"),
  "/redirect": (_, response) => response.writeHead(302, { location: "/json" }).end(),
  "/redirect-loop": (_, response) => response.writeHead(302, { location: "/redirect-loop" }).end(),
  "/slow": async (_, response) => {
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    json(response, 200, { slow: true });
  },
  "/large": (_, response) =>
    response.writeHead(200, { "content-type": "text/plain" }).end("x".repeat(2_097_153)),
  "/just-fits": (_, response) =>
    response.writeHead(200, { "content-type": "text/plain" }).end("x".repeat(2_097_152)),
  "/hang-up": (request) => void request.socket.destroy(),
  "/latin1": (_, response) =>
    response.writeHead(200, { "content-type": "text/plain; charset=latin1" }).end(Buffer.from([0xe9, 0xe8])),
  "/bom": (_, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end('\uFEFF{"bom":true}'),
  "/echo": async (request, response) => {
    const body = await buffer(request);
    const kept = ["content-type", "x-test", "authorization", "accept-language"];
    json(response, 200, {
      method: request.method,
      url: request.url,
      headers: Object.fromEntries(
        kept.flatMap((name) => (name in request.headers ? [[name, request.headers[name]]] : [])),
      ),
      body: body.toString("latin1"),
    });
  },
};

/** Starts the server on 127.0.0.1 only. `/status/418` answers with that status and a JSON body. */
export async function startTestServer(): Promise<TestServer> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    const status = /^\/status\/(\d{3})$/.exec(path)?.[1];
    if (status !== undefined) {
      json(response, Number(status), { status: Number(status) });
      return;
    }
    const route = ROUTES[path];
    if (!route) {
      json(response, 404, { error: "no such path" });
      return;
    }
    Promise.resolve(route(request, response)).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
