import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { encodeAbiParameters, encodeEventTopics, parseAbiItem } from "viem";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { watchNodes, type NodeWatch } from "../../../src/app/network/nodeWatch.ts";
import { encodeNodeUrls } from "../../../src/chainlink/offchainConfig.ts";
import type { ChainClient } from "../../../src/evm/client.ts";
import { idOf, logOf } from "../../oracle/support/logs.ts";
import { testAccount } from "../../support/anvil.ts";

const NODES = [0, 1, 2, 3];
/** A node that accepts the request and never answers. */
const SILENT: readonly number[] = [];
const SEEN = "2026-11-22T18:00:00.000Z";
const signers = NODES.map((index) => testAccount(index).address);
const transmitters = NODES.map((index) => testAccount(4 + index).address);
const CONFIG_SET = parseAbiItem(
  "event ConfigSet(uint32 previousConfigBlockNumber, bytes32 configDigest, uint64 configCount, address[] signers, address[] transmitters, uint8 f, bytes onchainConfig, uint64 offchainConfigVersion, bytes offchainConfig)",
);

let server: Server;
let url: string;
/** The signers that each node reports, by index; `undefined` for a node that breaks the connection. */
let known: (readonly number[] | undefined)[];
let asked: number;
let hasUrls: boolean;
let isChainDown: boolean;
let errors: unknown[];
let stopping: AbortController;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  known = NODES.map(() => NODES);
  [asked, hasUrls, isChainDown, errors, stopping] = [0, true, false, [], new AbortController()];
  // One server acts as all nodes, each at a path of its own.
  server = createServer((request, response) => {
    asked += 1;
    const of = known[Number(request.url!.split("/")[1])];
    if (of === undefined) return void response.destroy();
    if (of === SILENT) return;
    const nodes = of.map((index) => ({
      signer: signers[index],
      lastSeen: SEEN,
      contradictions: index === 3 ? 1 : 0,
      agreement: { same: 3, of: 4 },
    }));
    response.end(JSON.stringify({ networks: { amoy: { nodes } } }));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  vi.useRealTimers();
  stopping.abort();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function watch(waitMs = 60_000): NodeWatch {
  const client = {
    async call() {
      if (isChainDown) throw new Error("connection refused");
      const types = [{ type: "uint32" }, { type: "uint32" }, { type: "bytes32" }] as const;
      return encodeAbiParameters(types, [1, 9, idOf(1n)]);
    },
    async getLogs() {
      const urls = NODES.map((index) => `${url}/${index}`);
      const offchainConfig = hasUrls ? encodeNodeUrls(urls) : "0x";
      const values = [0, idOf(1n), 1n, signers, transmitters, 1, "0x", 1n, offchainConfig] as const;
      const topics = encodeEventTopics({ abi: [CONFIG_SET] });
      return [logOf(topics as [`0x${string}`], encodeAbiParameters(CONFIG_SET.inputs, values))];
    },
    request: async () => ({ number: "0xa" }),
  } as unknown as Pick<ChainClient, "call" | "getLogs" | "request">;
  const onError = (error: unknown): void => void errors.push(error);
  return watchNodes({ client, coordinator: signers[0]!, signal: stopping.signal, onError, waitMs });
}

test("each node of the coordinator's configuration, with what the others say of it", async () => {
  known[1] = undefined;
  known[2] = [0, 1, 3];
  const node = (index: number, answers: boolean, accusers = 0) => ({
    url: `${url}/${index}`,
    signer: signers[index],
    transmitter: transmitters[index],
    answers,
    lastSeen: SEEN,
    agreementRate: 0.75,
    accusers,
  });
  expect(await watch()()).toEqual([node(0, true), node(1, false), node(2, false), node(3, true, 2)]);
});

test("the nodes are asked once in a while, and nobody waits for them twice", async () => {
  const read = watch();
  await Promise.all([read(), read(), read()]);
  expect(asked).toBe(NODES.length);
  vi.advanceTimersByTime(10_001);
  known[0] = undefined;
  expect((await read())?.[0]?.answers).toBe(true);
  await vi.waitFor(async () => expect((await read())?.[0]?.answers).toBe(false));
  expect(asked).toBe(2 * NODES.length);
});

test("nobody waits for a node that hangs", async () => {
  known[2] = SILENT;
  const read = watch(20);
  expect(await read()).toBeUndefined();
  await vi.waitFor(
    async () => expect((await read())?.map(({ answers }) => answers)).toEqual([true, true, false, true]),
    {
      timeout: 60_000,
    },
  );
});

test("an oracle that holds all keys has no nodes", async () => {
  hasUrls = false;
  expect(await watch()()).toEqual([]);
  expect(asked).toBe(0);
});

test("while the chain can't be asked, the last reading stands", async () => {
  const read = watch();
  const first = await read();
  isChainDown = true;
  vi.advanceTimersByTime(10_001);
  expect(await read()).toBe(first);
  await vi.waitFor(() => expect(errors).toHaveLength(1));
  expect(await read()).toBe(first);
});

test("where it could never be asked, nothing is said", async () => {
  isChainDown = true;
  expect(await watch()()).toBeUndefined();
  expect(errors).toMatchObject([{ message: "connection refused" }]);
});
