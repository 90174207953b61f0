import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createPeer, MAX_BODY_BYTES, MESSAGES_PATH, type Peer } from "../../../src/oracle/node/peerClient.ts";
import { joinBody, splitBody } from "../../external/support/peerProxy.ts";

/** Decides on the answer to a body: a status, or `undefined` to break the connection. */
let answerTo: (body: Buffer, response: ServerResponse) => number | undefined | Promise<number | undefined>;
let bodies: Buffer[];
let connections: number;
let server: Server;
let stopping: AbortController;
let peer: Peer;

beforeEach(async () => {
  answerTo = () => 204;
  bodies = [];
  connections = 0;
  stopping = new AbortController();
  server = createServer((request, response) => void take(request, response));
  // After a pause of the machine, an idle connection would be closed.
  server.keepAliveTimeout = 0;
  server.on("connection", () => (connections += 1));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  peer = createPeer(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, stopping.signal);
});
afterEach(async () => {
  stopping.abort();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { signal } = stopping;
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    // The peer was stopped in the middle of a body, at the end of a test.
    expect(signal.aborted).toBe(true);
    return;
  }
  const body = Buffer.concat(chunks);
  expect([request.method, request.url, Number(request.headers["content-length"])]).toEqual([
    "POST",
    MESSAGES_PATH,
    body.length,
  ]);
  bodies.push(body);
  const status = await answerTo(body, response);
  if (status === undefined) response.destroy();
  else response.writeHead(status, { "content-length": 0 }).end();
}

const message = (text: string, length = text.length): Buffer => Buffer.alloc(length, text);
const received = (): string[] => bodies.flatMap((body) => splitBody(body).map(String));

test("what is sent in one turn goes in one body, over one connection for all", async () => {
  for (const text of ["one", "two", "three"]) peer.send(message(text));
  await vi.waitFor(() => expect(received()).toEqual(["one", "two", "three"]));
  expect(bodies).toEqual([joinBody(["one", "two", "three"].map((text) => message(text)))]);
  for (const text of ["four", "five"]) {
    peer.send(message(text));
    await vi.waitFor(() => expect(received().at(-1)).toBe(text));
  }
  expect(connections).toBe(1);
});

test("messages gather while a body is under way, in their order", async () => {
  let release!: (status: number) => void;
  answerTo = () => new Promise((resolve) => (release = resolve));
  peer.send(message("one"));
  await vi.waitFor(() => expect(bodies).toHaveLength(1));
  peer.send(message("two"));
  await new Promise((resolve) => setImmediate(resolve));
  peer.send(message("three"));
  answerTo = () => 204;
  release(204);
  await vi.waitFor(() => expect(bodies).toHaveLength(2));
  expect(splitBody(bodies[1]!).map(String)).toEqual(["two", "three"]);
});

test.each<[string, number | undefined]>([
  ["is not ready", 503],
  ["takes no more for now", 429],
  ["breaks the connection off", undefined],
])("a peer that %s gets the same again, before what is new", async (_, status) => {
  answerTo = () => (bodies.length === 1 ? status : 204);
  peer.send(message("one"));
  await vi.waitFor(() => expect(bodies).toHaveLength(1));
  peer.send(message("two"));
  await vi.waitFor(() => expect(received()).toEqual(["one", "one", "two"]));
});

test("what a peer calls malformed is dropped, and nothing waits behind it", async () => {
  answerTo = (body) => (String(body).includes("strange") ? 400 : 204);
  peer.send(message("strange"));
  await vi.waitFor(() => expect(bodies).toHaveLength(1));
  peer.send(message("known"));
  await vi.waitFor(() => expect(received()).toEqual(["strange", "known"]));
});

test("a body is at most as long as a node takes, and a long message goes alone", async () => {
  const long = Math.floor(MAX_BODY_BYTES / 2) - 4;
  for (const text of ["a", "b", "c"]) peer.send(message(text, long));
  await vi.waitFor(() => expect(bodies.map((body) => splitBody(body).length)).toEqual([2, 1]));
  expect(bodies.every(({ length }) => length <= MAX_BODY_BYTES)).toBe(true);
});

test("of what waits for a silent peer the oldest is dropped", async () => {
  answerTo = () => 503;
  for (let index = 0; index < 2_100; index += 1) peer.send(message(`message ${index}`));
  await vi.waitFor(() => expect(bodies.length).toBeGreaterThan(1));
  const waiting = splitBody(bodies.at(-1)!).map(String);
  expect([waiting.length, waiting[0], waiting.at(-1)]).toEqual([2_000, "message 100", "message 2099"]);
});

test("long messages that wait for a silent peer are bounded in bytes", async () => {
  for (let index = 0; index < 80; index += 1) peer.send(message(`${index} `, 131_072));
  await vi.waitFor(() => expect(received()[0]).toMatch(/^16 /));
});

test("with the node's end, a body that is under way is given up, and nothing is sent after it", async () => {
  const closed = Promise.withResolvers<void>();
  answerTo = (_, response) => {
    response.once("close", closed.resolve);
    return new Promise(() => {});
  };
  peer.send(message("one"));
  await vi.waitFor(() => expect(bodies).toHaveLength(1));
  stopping.abort();
  await closed.promise;
  peer.send(message("two"));
  await new Promise((resolve) => setImmediate(resolve));
  expect(received()).toEqual(["one"]);
});

test("under load messages wait for each other, so that a second has few bodies", async () => {
  const begun = performance.now();
  for (let index = 0; index < 60; index += 1) {
    peer.send(message(`message ${index}`));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await vi.waitFor(() => expect(received()).toHaveLength(60));
  const mostBodies = 10 + (performance.now() - begun) / 100 + 1;
  expect(bodies.length).toBeLessThanOrEqual(mostBodies);
});
