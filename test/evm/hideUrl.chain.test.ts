import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { createChainClient } from "../../src/evm/client.ts";
import { createUrlHider } from "../../src/evm/hideUrl.ts";

test.each([
  ["https://node.example/v3/0123456789abcdef", "0123456789abcdef"],
  ["https://node.example/?apikey=0123456789abcdef", "0123456789abcdef"],
  ["wss://user:0123456789abcdef@node.example/ws", "0123456789abcdef"],
  ["https://user:p%40ssw0rd@node.example", "p@ssw0rd"],
])("%s is told without its key", (url, key) => {
  const hide = createUrlHider(url);
  const text = hide(`request to ${url} failed; ${new URL(url).href}; key ${key}, ${new URL(url).pathname}`);
  expect(text).toContain("node.example");
  expect(text.replace(/key \S+/, "")).not.toContain(key);
});

test("a socket's path and a bare URL hide nothing", () => {
  for (const url of ["/tmp/node.ipc", "http://127.0.0.1:8545"])
    expect(createUrlHider(url)("execution reverted: / at 127.0.0.1")).toBe(
      "execution reverted: / at 127.0.0.1",
    );
});

test.each([
  ["unreachable", undefined],
  ["refusing", 403],
  ["talking nonsense", 200],
])("of a node %s says nothing of its URL, in no part", async (_, status) => {
  const server = createServer((request, response) => {
    response.statusCode = status ?? 200;
    response.end(`no such project: ${request.url}`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  if (status === undefined) server.close();
  const client = createChainClient(`http://127.0.0.1:${port}/v3/s3cr3t-pr0j3ct-k3y`);
  const error: unknown = await client.getHead("latest").catch((thrown: unknown) => thrown);
  server.close();
  expect(error).toMatchObject({ code: "chain_unavailable" });
  expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain("s3cr3t-pr0j3ct-k3y");
});
