import { createServer, type AddressInfo, type Socket } from "node:net";
import { afterAll, expect, test } from "vitest";
import { createGuardedFetch } from "../../../sandbox/host/net/guardedFetch.ts";
import { createGuardedPost } from "../../../sandbox/host/net/guardedPost.ts";
import { createRequestBudget } from "../../../sandbox/host/net/requestBudget.ts";

/** What a server writes once, and what it then repeats as fast as it is read. */
const FLOODS: Readonly<Record<string, readonly [beginning: string, repeated: string]>> = {
  "informational answers": ["", "HTTP/1.1 103 Early Hints\r\n\r\n"],
  "a reason": ["HTTP/1.1 200 ", "x"],
  "a chunk extension": ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;x=", "x"],
};
const TOO_MUCH = "The server sent more than a response of the allowed size takes.";

const sockets = new Set<Socket>();
const server = createServer((socket) => {
  sockets.add(socket.on("error", () => {}));
  socket.on("data", (head: Buffer) => {
    const path = decodeURI(/^\S+ \/(\S*) /.exec(head.toString())![1]!);
    const [beginning, repeated] = FLOODS[path] ?? ["HTTP/1.1 200 OK\r\ncontent-length: 400000\r\n\r\n", ""];
    socket.write(beginning);
    if (repeated === "") return void socket.write("z".repeat(400_000));
    const part = repeated.repeat(10_000);
    const write = (): void => {
      while (socket.writable) if (!socket.write(part)) return void socket.once("drain", write);
    };
    write();
  });
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});
const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
const fetcher = createGuardedFetch({ allowHosts: [host] });
/** Its time is never what ends a request here. */
const budget = () =>
  createRequestBudget({ maxHttpRequests: 100, maxHttpResponseBytes: 400_000, maxHttpDurationMs: 600_000 });

test.each(Object.keys(FLOODS))("a source's request ends when its server floods it with %s", async (flood) => {
  const outcome = await fetcher.fetch({ url: `http://${host}/${flood}` }, { budget: budget() });
  expect(outcome).toMatchObject({ ok: false, failure: { kind: "network", hint: TOO_MUCH } });
});

test.each(Object.keys(FLOODS))("a message ends when its receiver floods it with %s", async (flood) => {
  const post = createGuardedPost({ allowHosts: [host], userAgent: "test" });
  const message = { url: `http://${host}/${flood}`, headers: [], body: Buffer.from("{}") };
  const outcome = await post.post(message, { timeoutMs: 600_000, maxAnswerBytes: 2_048 });
  // Once the status has come, it is what counts.
  expect(outcome).toMatchObject(
    flood === "a chunk extension"
      ? { ok: true, answer: { status: 200 } }
      : { ok: false, failure: { kind: "network", hint: TOO_MUCH } },
  );
});

test("each answer on a shared connection may have the allowed size", async () => {
  const ended = new AbortController();
  const shared = fetcher.share(ended.signal);
  const its = budget();
  for (let i = 0; i < 20; i += 1) {
    const outcome = await shared.fetch({ url: `http://${host}/` }, { budget: its });
    expect(outcome).toMatchObject({ ok: true, response: { status: 200 } });
  }
  expect(await shared.fetch({ url: `http://${host}/a reason` }, { budget: its })).toMatchObject({
    failure: { hint: TOO_MUCH },
  });
  ended.abort();
});
