import { readFileSync } from "node:fs";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startTycheProcess, type TycheProcess } from "../support/tyche.ts";
import { startReceiver, type Receiver } from "./receiver.ts";

/** Writes a part again and again, as fast as the peer takes it, until the connection ends. */
function flood(socket: Socket, part: Buffer | string): void {
  const write = (): void => {
    while (socket.writable) if (!socket.write(part)) return void socket.once("drain", write);
  };
  write();
}

/** Writes a part every second until the connection ends. */
function drip(socket: Socket, part: string): void {
  const timer = setInterval(() => socket.write(part), 1_000);
  socket.once("close", () => clearInterval(timer));
}

const TIME_LIMIT = { success: false, status: null, error: "No whole answer within 15 seconds." };
const TOO_MUCH = {
  success: false,
  status: null,
  error: "The server sent more than a response of the allowed size takes.",
};
const failed = (error: string) => ({
  success: false,
  status: null,
  error: expect.stringContaining(`The request failed: ${error}`),
});
const delivered = (answer: unknown) => ({ success: true, status: 200, error: null, answer });
/** How much of a body that breaks off is kept depends on the packets that it comes in. */
const ANY = expect.any(String);
const OK = "HTTP/1.1 200 OK\r\n";
const kilobytes = "y".repeat(65_536);
const bomb = gzipSync(Buffer.alloc(50_000_000));

/** What receivers do once the head of a message has come, and the attempt that it makes. */
const ATTACKS: Readonly<Record<string, readonly [(socket: Socket) => void, object]>> = {
  "the status at a byte a second": [
    (socket) => {
      let sent = 0;
      const timer = setInterval(() => socket.write(OK[sent++ % OK.length]!), 1_000);
      socket.once("close", () => clearInterval(timer));
    },
    TIME_LIMIT,
  ],
  "headers at one a second": [(socket) => (socket.write(OK), drip(socket, "x: y\r\n")), TIME_LIMIT],
  "a body at a byte a second": [
    (socket) => (socket.write(`${OK}content-length: 100\r\n\r\n`), drip(socket, "z")),
    delivered(expect.stringMatching(/^z*$/)),
  ],
  "100 MB of headers": [
    (socket) => (socket.write(OK), flood(socket, `x: ${kilobytes}\r\n`)),
    failed("Headers Overflow Error"),
  ],
  "an endless reason": [(socket) => (socket.write("HTTP/1.1 200 "), flood(socket, kilobytes)), TOO_MUCH],
  "an endless body": [
    (socket) => (socket.write(`${OK}\r\n`), flood(socket, kilobytes)),
    delivered("y".repeat(2_048)),
  ],
  "a gzip bomb": [
    (socket) => {
      socket.write(`${OK}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
      socket.write(bomb);
    },
    delivered(ANY),
  ],
  "HTTP/1.0 that ends without a length": [
    (socket) => socket.end("HTTP/1.0 200 OK\r\n\r\nold"),
    delivered(ANY),
  ],
  "informational answers without end": [
    (socket) => flood(socket, "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(1_000)),
    TOO_MUCH,
  ],
  "continue without end": [
    (socket) => flood(socket, "HTTP/1.1 100 Continue\r\n\r\n".repeat(1_000)),
    failed("bad response"),
  ],
  "an upgrade": [
    (socket) => socket.write("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
    failed("bad upgrade"),
  ],
  "its half of the connection closed": [(socket) => socket.end(), failed("other side closed")],
  "its half closed in the middle of a body": [
    (socket) => socket.end(`${OK}content-length: 10\r\n\r\nhalf`),
    delivered(ANY),
  ],
  "endless trailers": [
    (socket) => {
      socket.write(`${OK}transfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n`);
      flood(socket, `x: ${"y".repeat(1_000)}\r\n`);
    },
    delivered(ANY),
  ],
  "an endless chunk extension": [
    (socket) => (socket.write(`${OK}transfer-encoding: chunked\r\n\r\n2;x=`), flood(socket, kilobytes)),
    delivered(""),
  ],
  "what is not HTTP": [
    (socket) => flood(socket, kilobytes),
    failed("Response does not match the HTTP/1.1 protocol"),
  ],
  "a redirect to this machine": [
    (socket) => socket.end(`HTTP/1.1 307 x\r\nlocation: http://127.0.0.1/\r\ncontent-length: 0\r\n\r\n`),
    { success: false, status: 307 },
  ],
};

let receiver: Receiver;
let hostile: Server;
let tyche: TycheProcess;
const sockets = new Set<Socket>();

beforeAll(async () => {
  receiver = await startReceiver();
  hostile = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => {});
    socket.once("data", (head: Buffer) => {
      const path = /^POST (\S+) /.exec(head.toString())?.[1];
      // A TLS handshake that gets no answer.
      if (path !== undefined) Object.values(ATTACKS)[Number(path.slice(1))]![0](socket);
    });
  });
  await new Promise<void>((resolve) => {
    hostile.listen(0, "127.0.0.1", resolve);
  });
  tyche = await startTycheProcess({
    networks: ["sepolia"],
    env: { TYCHE_ALLOW_HOSTS: `${receiver.host},${hostileHost()}` },
  });
});
afterAll(async () => {
  await tyche?.stop();
  for (const socket of sockets) socket.destroy();
  hostile?.close();
  await receiver?.close();
});

const hostileHost = (): string => `127.0.0.1:${(hostile.address() as AddressInfo).port}`;
const memoryMb = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${tyche.pid}/status`, "utf8"))![1]) / 1_024;
const create = async (url: string): Promise<string> => {
  const { status, data } = await tyche.call("POST", "/api/webhooks", { body: { url } });
  expect(status).toBe(200);
  return data.id as string;
};

test("a hostile receiver delays no other, costs little, and its attempt is logged with the reason", async () => {
  const urls = Object.keys(ATTACKS).map((_, i) => `http://${hostileHost()}/${i}`);
  const ids = await Promise.all([...urls, `https://${hostileHost()}/`].map(create));
  const good = await create(`${receiver.url}/good`);
  const send = (id: string) => tyche.call("POST", `/api/webhooks/${id}/test`);
  // The first message loads what sends it.
  await send(good);
  await receiver.count("/good", 1);
  const memoryBefore = memoryMb();
  await Promise.all([...ids, ...ids, good, ...ids, good].map(send));
  await receiver.count("/good", 3);
  const first = async (id: string) => {
    const { data } = await tyche.call("GET", `/api/webhooks/${id}/attempts?limit=100`);
    return data.items.at(-1) as object | undefined;
  };
  const attempts = await vi.waitFor(
    async () => {
      const found = await Promise.all(ids.map(first));
      expect(found).not.toContain(undefined);
      return found;
    },
    { timeout: 120_000, interval: 100 },
  );
  const names = [...Object.keys(ATTACKS), "a TLS handshake without an answer"];
  expect(Object.fromEntries(attempts.map((attempt, i) => [names[i], attempt]))).toMatchObject(
    Object.fromEntries(
      [...Object.values(ATTACKS).map(([, outcome]) => outcome), TIME_LIMIT].map((outcome, i) => [
        names[i],
        outcome,
      ]),
    ),
  );
  expect(memoryMb() - memoryBefore).toBeLessThan(200);
  await Promise.all(ids.map((id) => tyche.call("DELETE", `/api/webhooks/${id}`)));
  await vi.waitFor(() => expect(sockets.size).toBe(0), { timeout: 60_000, interval: 100 });
});
