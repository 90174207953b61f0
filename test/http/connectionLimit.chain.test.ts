import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { limitConnections, type ConnectionLimit } from "../../src/http/connectionLimit.ts";
import { closeIfStalled } from "../../src/lib/stalledReaders.ts";
import { startHarness } from "./harness.ts";

let server: Server;
let sockets: Socket[];
beforeEach(() => {
  sockets = [];
  server = createServer((_, response) => response.end("served"));
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

const listen = async (limit: ConnectionLimit): Promise<void> => {
  limitConnections(server, limit);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
};
/** Connects from an address of this machine; resolves with both ends once the server has accepted. */
const connectFrom = async (localAddress: string) => {
  const { port } = server.address() as AddressInfo;
  const accepted = once(server, "connection");
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  sockets.push(socket);
  socket.on("error", () => {});
  const [served] = (await accepted) as [Socket];
  return { socket, served };
};
const open = async (localAddress = "127.0.0.1"): Promise<Socket> => (await connectFrom(localAddress)).socket;
const ask = async (socket: Socket): Promise<string> => {
  socket.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  return await text(socket);
};

test("an address above its limit is told and closed, and every other one is served", async () => {
  await listen({ most: 2, refuse: (socket) => void socket.end("too many") });
  const first = await connectFrom("127.0.0.1");
  await open();
  expect(await text(await open())).toBe("too many");
  expect(await ask(await open("127.0.0.2"))).toContain("served");
  const closed = once(first.served, "close");
  first.socket.destroy();
  await closed;
  expect(await ask(await open())).toContain("served");
});

test("an exempt address has no limit", async () => {
  await listen({ most: 1, isExempt: (address) => address === "127.0.0.2" });
  await open("127.0.0.2");
  expect(await ask(await open("127.0.0.2"))).toContain("served");
});

test("a caller that stops reading its response is closed, and one that waits for its own is not", async () => {
  server.removeAllListeners("request");
  let answerWaiting = (): void => {};
  server.on("request", ({ url }, response) => {
    closeIfStalled(response, 50);
    if (url === "/wait") answerWaiting = () => void response.end("waited");
    else response.end(Buffer.alloc(64 * 2 ** 20));
  });
  await listen({ most: 2 });
  const waiting = await connectFrom("127.0.0.1");
  waiting.socket.write("GET /wait HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const stalled = await connectFrom("127.0.0.1");
  const closed = once(stalled.served, "close");
  stalled.socket.pause().write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await closed;
  answerWaiting();
  expect(await text(waiting.socket)).toContain("waited");
});

test("the API doesn't limit the connections of this machine", async () => {
  const { server: api, call } = await startHarness({ limits: { maxConnectionsPerAddress: 1 } });
  const idle = [1, 2].map(() => connect(api.port, "127.0.0.1"));
  sockets.push(...idle);
  await Promise.all(idle.map((socket) => once(socket, "connect")));
  expect((await call("GET", "/healthz")).status).toBe(200);
});
