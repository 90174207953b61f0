import { decodeFunctionResult, encodeFunctionResult, type Hex } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { functionsCoordinatorAbi } from "../../../src/chainlink/contracts/abi.ts";
import {
  configDigestOf,
  CONFIG_SET_TOPIC,
  encodeSetConfig,
  nodeConfigOf,
} from "../../../src/chainlink/nodeConfig.ts";
import type { ChainClient } from "../../../src/evm/client.ts";
import { toQuantity } from "../../../src/lib/nodeAnswers.ts";
import { decodeNodeSet, readNodeSet, type NodeSet } from "../../../src/oracle/node/nodeSet.ts";
import { followNodeSet, type SetFollower } from "../../../src/oracle/node/setFollower.ts";
import { startTestStack, TEST_ROLES, type TestStack } from "../../support/stack.ts";
import { idOf } from "../support/logs.ts";

const config = nodeConfigOf({ signers: [], transmitters: [] });
const setOf = (count: bigint, name: bigint, blockNumber = 10n * count): NodeSet => ({
  configDigest: idOf(name),
  count,
  blockNumber,
  faulty: 1,
  signers: [],
  transmitters: [],
  urls: [],
  config,
});

let changes: NodeSet[];
/** What the chain answers, one by one; the last answer repeats. */
let answers: (() => NodeSet | Promise<NodeSet>)[];
let stopping: AbortController;
let warnings: number;
let asked: number;
beforeEach(() => {
  changes = [];
  stopping = new AbortController();
  warnings = 0;
  asked = 0;
  return () => stopping.abort();
});

const follow = (first: NodeSet): SetFollower =>
  followNodeSet({
    first,
    read: async () => {
      asked += 1;
      return await (answers.length > 1 ? answers.shift()! : answers[0]!)();
    },
    onChange: (set) => void changes.push(set),
    log: { debug() {}, info() {}, warn: () => void (warnings += 1), error() {} },
    signal: stopping.signal,
  });
const names = (): string[] => changes.map(({ configDigest }) => configDigest);

test("a log with a higher number is the present configuration; those before it, read again, are not", () => {
  const sets = follow(setOf(2n, 2n));
  for (const count of [1n, 2n, 3n, 2n, 3n]) sets.onLog(setOf(count, count));
  expect(names()).toEqual([idOf(3n)]);
});

test("a reorganisation above the present configuration changes nothing, and asks nobody", () => {
  const sets = follow(setOf(2n, 2n, 20n));
  sets.onReorg(21n);
  expect([asked, names()]).toEqual([0, []]);
});

test("where a reorganisation takes the configuration back, the chain tells which holds", async () => {
  answers = [() => setOf(1n, 1n)];
  const sets = follow(setOf(2n, 2n, 20n));
  sets.onReorg(20n);
  await vi.waitFor(() => expect(names()).toEqual([idOf(1n)]));
  // The configuration's transaction is sent and mined again.
  sets.onLog(setOf(2n, 2n, 22n));
  expect(names()).toEqual([idOf(1n), idOf(2n)]);
});

test("on the other branch the same number may be another configuration", () => {
  answers = [() => new Promise<never>(() => {})];
  const sets = follow(setOf(2n, 2n, 20n));
  sets.onReorg(15n);
  sets.onLog(setOf(2n, 7n, 20n));
  expect(names()).toEqual([idOf(7n)]);
});

test("the same configuration, mined again, is no change", async () => {
  answers = [() => new Promise<never>(() => {})];
  const sets = follow(setOf(2n, 2n, 20n));
  sets.onReorg(15n);
  sets.onLog(setOf(2n, 2n, 21n));
  expect(names()).toEqual([]);
  sets.onReorg(21n);
  expect(asked).toBe(2);
});

test("a node that still tells the configuration of the branch that is gone is asked again", async () => {
  answers = [() => setOf(2n, 2n, 20n), () => setOf(1n, 1n)];
  const sets = follow(setOf(2n, 2n, 20n));
  sets.onReorg(20n);
  await vi.waitFor(() => expect(names()).toEqual([idOf(1n)]));
  expect(asked).toBe(2);
});

test("an answer from before a further reorganisation does not count", async () => {
  let answer!: (set: NodeSet) => void;
  answers = [() => new Promise((resolve) => (answer = resolve)), () => setOf(1n, 1n)];
  const sets = follow(setOf(3n, 3n, 30n));
  sets.onReorg(15n);
  sets.onReorg(14n);
  answer(setOf(2n, 7n, 16n));
  await vi.waitFor(() => expect(names()).toEqual([idOf(1n)]));
});

test("a chain that can't be asked is asked again, until the node stops", async () => {
  answers = [
    () => {
      throw new Error("connection refused");
    },
  ];
  follow(setOf(2n, 2n, 20n)).onReorg(20n);
  await vi.waitFor(() => expect(warnings).toBe(2));
  stopping.abort();
  expect(names()).toEqual([]);
});

const DETAILS = { abi: functionsCoordinatorAbi, functionName: "latestConfigDetails" } as const;
let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.close());

test("on a real chain, a configuration whose block is taken back gives way to the one before it", async () => {
  const { client, viem, addresses, chainId, send } = stack;
  const coordinator = addresses.functionsCoordinator;
  const read = () => readNodeSet(client, coordinator);
  const before = await read();
  const snapshot = await viem.snapshot();
  const next = nodeConfigOf({
    signers: before.transmitters,
    transmitters: before.signers,
    offchainConfig: "0x1234",
  });
  const { logs, blockNumber } = await send(TEST_ROLES.deployer, {
    to: coordinator,
    data: encodeSetConfig(next),
  });
  const set = decodeNodeSet(logs.find(({ topics }) => topics[0] === CONFIG_SET_TOPIC)!);
  expect(set.configDigest).toBe(configDigestOf(next, { chainId, coordinator, count: before.count + 1n }));
  answers = [read];
  const sets = follow(before);
  sets.onLog(set);
  await viem.revert({ id: snapshot });
  sets.onReorg(blockNumber);
  await vi.waitFor(() => expect(names()).toEqual([set.configDigest, before.configDigest]));
});

test("where contracts see the parent chain's block numbers, the configuration is found by those", async () => {
  const { client, addresses } = stack;
  const coordinator = addresses.functionsCoordinator;
  const set = await readNodeSet(client, coordinator);
  // The parent's block number advances every two blocks, and is far ahead of this chain's.
  const shift = 10_000n;
  const asArbitrum: Pick<ChainClient, "call" | "getLogs" | "request"> = {
    call: async (transaction) => shiftBlock(await client.call(transaction), shift),
    getLogs: (filter) => client.getLogs(filter),
    async request(method, parameters) {
      const block = (await client.request(method, parameters)) as { readonly number: string };
      return { ...block, l1BlockNumber: toQuantity((BigInt(block.number) >> 1n) + shift) };
    },
  };
  function shiftBlock(answer: Hex, by: bigint): Hex {
    const [count, block, digest] = decodeFunctionResult({ ...DETAILS, data: answer });
    const parent = Number((BigInt(block) >> 1n) + by);
    return encodeFunctionResult({ ...DETAILS, result: [count, parent, digest] });
  }
  expect(await readNodeSet(asArbitrum, coordinator)).toEqual(set);
});
