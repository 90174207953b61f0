import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { SandboxPool } from "../../../sandbox/index.ts";
import { serveOracleNetwork, type OracleNetwork } from "../../../src/app/oracle/oracleNetwork.ts";
import { createSqliteDialect } from "../../../src/store/sqliteDialect.ts";
import { openStore, type Store } from "../../../src/store/store.ts";
import { idOf } from "../../oracle/support/logs.ts";

/** Longer than the first pause between attempts. */
const LONG_MS = 1_500;
/** Several times the number of calls of one attempt. */
const CALLS_OF_ATTEMPT = 30;

const ANSWERS: Readonly<Record<string, unknown>> = {
  eth_chainId: "0x7a69",
  eth_getBlockByNumber: {
    number: "0x0",
    hash: idOf(1n),
    parentHash: idOf(0n),
    timestamp: "0x65000000",
    gasLimit: "0x1c9c380",
  },
};

let server: Server;
let store: Store;
let network: OracleNetwork;
let url: string;
/** The number of `eth_getCode` calls, one per attempt, and a function that answers the latest: the coordinator has no code. */
let attempts: number;
let release: (() => void) | undefined;

beforeEach(async () => {
  attempts = 0;
  server = createServer((request, response) => {
    void readBody(request).then(({ id, method }) => {
      if (method !== "eth_getCode") return answer(response, { id, result: ANSWERS[method] ?? null });
      attempts += 1;
      release = () => answer(response, { id, result: "0x" });
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  store = await openStore(createSqliteDialect(":memory:"));
  network = serveOracleNetwork({
    name: "mychain",
    config: {
      chainId: 31_337,
      title: "My chain",
      rpcUrls: [url],
      coordinator: "0x00000000000000000000000000000000000000c0",
    },
    masterKey: new Uint8Array(32).fill(7),
    store,
    pool: {} as SandboxPool,
    log: pino({ level: "silent" }),
    onTransaction() {},
    allowHosts: [],
    role: { role: "node", url: "http://127.0.0.1:1" },
  });
});
afterEach(async () => {
  server.closeAllConnections();
  await network.close();
  await store.close();
  await new Promise((resolve) => server.close(resolve));
});

test("while opening a network takes long, it is not opened a second time beside that", async () => {
  await expect.poll(() => attempts).toBe(1);
  await sleep(LONG_MS);
  // A second attempt would make a few calls one after the other, and its `eth_getCode` would arrive among these.
  for (let call = 0; call < CALLS_OF_ATTEMPT; call += 1)
    await fetch(url, { method: "POST", body: JSON.stringify({ id: call, method: "eth_chainId" }) });
  expect(attempts).toBe(1);
  release!();
  await expect.poll(() => network.trouble()).toContain("holds no code");
  await expect.poll(() => attempts).toBe(2);
});

async function readBody(request: AsyncIterable<Buffer>): Promise<{ id: number; method: string }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString()) as { id: number; method: string };
}

function answer(response: ServerResponse, body: object): void {
  response
    .writeHead(200, { "content-type": "application/json" })
    .end(JSON.stringify({ jsonrpc: "2.0", ...body }));
}
