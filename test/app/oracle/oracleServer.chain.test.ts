import { once } from "node:events";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { OracleNetwork } from "../../../src/app/oracle/oracleNetwork.ts";
import {
  listenForOracle,
  type OracleServer,
  type OracleServerOptions,
} from "../../../src/app/oracle/oracleServer.ts";
import { fromHexText } from "../../../src/lib/hex.ts";
import { uintBytes } from "../../../src/oracle/protocol/byteReader.ts";

const COORDINATOR = `0x${"ab".repeat(20)}` as const;
const senders: string[] = [];
const network: OracleNetwork = {
  name: "amoy",
  status: () => undefined,
  trouble: () => "it is starting",
  unreachable: () => undefined,
  node: () =>
    ({
      peers: () => undefined,
      take(_body: Uint8Array, address: string) {
        senders.push(address);
        return "taken";
      },
    }) as unknown as ReturnType<OracleNetwork["node"]>,
  address: { chainId: 80_002, coordinator: COORDINATOR },
  donId: undefined,
  gateway: () => undefined,
  warnings: () => [],
  evidence: async () => ['{"requestId":"0x1"}'],
  close: async () => {},
};

let server: OracleServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
  senders.length = 0;
});

async function listen(
  more: Pick<OracleServerOptions, "trustProxy" | "receiveTimeoutMs"> = {},
): Promise<OracleServer> {
  return (server = await listenForOracle({
    host: "127.0.0.1",
    port: 0,
    registry: new Registry(),
    networks: [network],
    gateway: { answer: async (text) => ({ asked: text.length }) },
    sandbox: () => ({ isReady: true }),
    ...more,
  }));
}

/** Sends a request with its target unchanged and returns the answer's status. */
async function send(
  target: string,
  {
    body,
    headers = {},
    localAddress = "127.0.0.1",
  }: { body?: Uint8Array; headers?: Record<string, string>; localAddress?: string } = {},
): Promise<number> {
  const { hostname, port } = new URL(server!.url);
  return await new Promise((resolve, reject) => {
    const method = body === undefined ? "GET" : "POST";
    const sent = request({ hostname, port, path: target, method, headers, localAddress }, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode!));
    });
    sent.once("error", reject);
    if (body === undefined) sent.end();
    else sent.setHeader("content-length", body.length).end(body);
  });
}

const PATH = "/oracle/messages";
const bodyFor = (chainId: Uint8Array): Uint8Array =>
  Buffer.concat([
    uintBytes(100, 4),
    Uint8Array.of(1, 1),
    chainId,
    fromHexText(COORDINATOR),
    new Uint8Array(70),
  ]);

describe("what strangers send", () => {
  test.each(["//", "///", "//@", "/%", "*", "http://["])(
    "the target %s is answered with 404",
    async (target) => {
      await listen();
      expect(await send(target)).toBe(404);
      expect(await send("/healthz")).toBe(200);
    },
  );

  test.each([0, 1, 31, 95, 99, 200])("%i bytes of 255 are for no node here", async (length) => {
    await listen();
    expect(await send(PATH, { body: new Uint8Array(length).fill(255) })).toBe(404);
    expect(await send("/healthz")).toBe(200);
  });

  test("too long a body is refused", async () => {
    await listen();
    expect(await send(PATH, { body: new Uint8Array(524_289) })).toBe(413);
    expect(await send("/gateway", { body: new Uint8Array(262_145) })).toBe(413);
    expect(await send("/gateway", { body: new Uint8Array(262_144) })).toBe(200);
  });
});

test("one address has at most 64 connections, and the others' places stay free", async () => {
  await listen();
  const { hostname, port } = new URL(server!.url);
  const sockets: Socket[] = [];
  for (let count = 0; count < 64; count += 1) {
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    await once(socket, "connect");
  }
  const refused = connect(Number(port), hostname);
  refused.on("error", () => {}).resume();
  await new Promise((resolve) => refused.once("close", resolve));
  const other = connect({ port: Number(port), host: hostname, localAddress: "127.0.0.2" });
  other.end("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const [answer] = (await once(other, "data")) as [Buffer];
  expect(String(answer)).toContain("HTTP/1.1 200");
  expect(sockets.every((socket) => !socket.destroyed)).toBe(true);
  for (const socket of sockets) socket.destroy();
});

test.each([
  ["header", "POST /oracle/messages HTTP/1.1\r\nHost: a\r\n", "A: b\r\n"],
  ["body", "POST /oracle/messages HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n", "x"],
  ["first byte", "", ""],
])("a connection whose %s is late is closed", async (_, first, more) => {
  await listen({ receiveTimeoutMs: 100 });
  const { hostname, port } = new URL(server!.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {}).resume();
  socket.write(first);
  const writing = setInterval(() => socket.writable && socket.write(more), 20);
  const closed = new Promise<string>((resolve) => socket.once("close", () => resolve("closed")));
  expect(await closed).toBe("closed");
  clearInterval(writing);
});

describe("calls of one address", () => {
  const OTHER = { localAddress: "127.0.0.2" };
  // Keeps quotas from refilling, however slow the machine is.
  beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
  afterEach(() => void vi.useRealTimers());
  const sendMany = async (count: number, target: string, options: Parameters<typeof send>[1] = {}) => {
    const statuses: Record<number, number> = {};
    for (let index = 0; index < count; index += 1) {
      const status = await send(target, options);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
    return statuses;
  };

  test("beyond 200 they get 429, whatever they ask for, and another address doesn't", async () => {
    await listen();
    expect(await sendMany(199, "/healthz")).toEqual({ 200: 199 });
    expect(await sendMany(3, "/nothing")).toEqual({ 404: 1, 429: 2 });
    expect(await send("/readyz")).toBe(429);
    expect(await send("/healthz", OTHER)).toBe(200);
    vi.advanceTimersByTime(100);
    expect(await sendMany(6, "/healthz")).toEqual({ 200: 5, 429: 1 });
  });

  test("one of /metrics counts as ten", async () => {
    await listen();
    expect(await sendMany(21, "/metrics")).toEqual({ 200: 20, 429: 1 });
  });

  test("long evidence counts by its length, and messages pass all the same", async () => {
    vi.spyOn(network, "evidence").mockResolvedValueOnce([`"${"0".repeat(210 * 65_536)}"`]);
    await listen();
    expect(await send("/evidence")).toBe(200);
    expect(await send("/evidence")).toBe(429);
    expect(await send("/evidence", OTHER)).toBe(200);
    expect(await send(PATH, { body: bodyFor(uintBytes(80_002, 8)) })).toBe(204);
  });

  test("beyond 500 bodies for other networks no more is read, and another address's is", async () => {
    await listen();
    const body = bodyFor(uintBytes(1, 8));
    expect(await sendMany(502, PATH, { body })).toEqual({ 404: 500, 429: 2 });
    expect(await send(PATH, { body: bodyFor(uintBytes(80_002, 8)), ...OTHER })).toBe(204);
    expect(await send("/healthz")).toBe(200);
  });
});

describe("whose limits a message counts for", () => {
  const body = bodyFor(uintBytes(80_002, 8));
  const headers = { "x-forwarded-for": "192.0.2.1, 192.0.2.2" };

  test("those of the address that is connected, whatever a header says", async () => {
    await listen();
    expect(await send(PATH, { body, headers })).toBe(204);
    expect(senders).toEqual(["127.0.0.1"]);
  });

  test("behind a proxy, those of the address that the proxy saw", async () => {
    await listen({ trustProxy: true });
    expect(await send(PATH, { body, headers })).toBe(204);
    expect(await send(PATH, { body })).toBe(204);
    expect(senders).toEqual(["192.0.2.2", "127.0.0.1"]);
  });

  test("all addresses of an IPv6 /64 count as one", async () => {
    await listen({ trustProxy: true });
    for (const address of ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"])
      await send(PATH, { body, headers: { "x-forwarded-for": address } });
    const [first, same, other] = senders;
    expect([same, other === first]).toEqual([first, false]);
  });
});
