import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDapps } from "../../src/app/tools/dappTools.ts";
import { saveChain } from "../../src/store/chainRecords.ts";
import { openDataDirectory } from "../../src/store/dataDirectory.ts";
import { makeDataDir, removeDataDir } from "../support/tyche.ts";
import { runCli } from "./runCli.ts";

const FUJI = 43_113;
const TX = `0x${"5f".repeat(32)}`;
/** A port that nothing listens on. */
const DEAD = 1;

const contracts = { presetConsumer: `0x${"12".repeat(20)}` };
let dataDir: string;
let chain: ReturnType<typeof createServer>;

// The data directory of a service that has stopped; on the ports of two of its chains, a chain answers by now.
beforeAll(async () => {
  chain = createServer((_, response) =>
    response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result: `0x${FUJI.toString(16)}` })),
  );
  await new Promise<void>((resolve) => chain.listen(0, "127.0.0.1", resolve));
  const { port } = chain.address() as AddressInfo;
  dataDir = makeDataDir();
  const { store } = await openDapps(openDataDirectory(dataDir, { exclusive: false }));
  await saveChain(store.db, "fuji", "0x1", { contracts, port });
  await saveChain(store.db, "polygon_mumbai", "0x2", { contracts, port });
  await saveChain(store.db, "sepolia", "0x3", { contracts, port: DEAD });
  await saveChain(store.db, "mainnet", "0x4", { contracts, chainId: 1 });
  await store.close();
});
afterAll(() => {
  chain.close();
  removeDataDir(dataDir);
});

const run = (...args: readonly string[]) => runCli(args, "", { TYCHE_DATA_DIR: dataDir });

test("network list marks each RPC URL at which its chain doesn't answer", async () => {
  const { code, stdout, stderr } = await run("network", "list");
  const { port } = chain.address() as AddressInfo;
  expect({ code, lines: stdout.trimEnd().split("\n") }).toEqual({
    code: 0,
    lines: [
      `fuji             chain 43113     http://127.0.0.1:${port}`,
      "mainnet          chain 1         nodes of its own",
      `polygon_mumbai   chain 80001     http://127.0.0.1:${port}  doesn't answer`,
      "sepolia          chain 11155111  http://127.0.0.1:1  doesn't answer",
    ],
  });
  expect(stderr).toContain("start it with tyche start");
});

test("network list --json says which answer", async () => {
  const networks = JSON.parse((await run("network", "list", "--json")).stdout) as {
    name: string;
    answers?: boolean;
  }[];
  expect(Object.fromEntries(networks.map(({ name, answers }) => [name, answers]))).toEqual({
    polygon_mumbai: false,
    sepolia: false,
    fuji: true,
    mainnet: undefined,
  });
});

test.each([
  {
    flags: [],
    remedy:
      "http://127.0.0.1:1 answers only while the service runs: start it with tyche start, or name another node with --rpc-url",
  },
  { flags: ["--rpc-url", "http://127.0.0.1:1"], remedy: "check the URL of --rpc-url" },
])("verify $flags without a node says what to do", async ({ flags, remedy }) => {
  const { code, stdout, stderr } = await run("verify", "sepolia", TX, ...flags);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/^error: eth_\w+: the node can't be reached \(ECONNREFUSED\); /);
  expect(stderr).toContain(remedy);
});

test("verify without a data directory says what to do", async () => {
  const { stderr } = await runCli(["verify", "sepolia", TX], "", { TYCHE_DATA_DIR: "/nonexistent" });
  expect(stderr).toContain("start the service with tyche start");
  expect(stderr).toContain("--rpc-url");
});
