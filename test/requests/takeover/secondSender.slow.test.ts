import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { backupDatabase } from "../../../src/store/backup.ts";
import {
  makeRequest,
  startPipelineWorld,
  type OpenPipeline,
  type PipelineWorld,
} from "../../support/pipelineWorld.ts";

const REQUESTS = 64;
const SENDS = new Set(["eth_sendRawTransaction", "eth_sendRawTransactionSync"]);
const OUTAGE = { status: 503, reach: false } as const;

let world: PipelineWorld;
let open: OpenPipeline[];

beforeEach(async () => {
  world = await startPipelineWorld();
  open = [];
});
afterEach(async () => {
  for (const each of open) await each.close({ atOnce: true });
  await world.close();
});

const rpc = (method: string, ...parameters: unknown[]) => world.stack.client.request(method, parameters);

/** Starts a service on one of the two databases: they put different requests into a transaction, and pay different prices. */
async function start(which: "original" | "copy"): Promise<OpenPipeline> {
  const [maxTransactionGas, gasPriceWei] = which === "original" ? [2_000_000n, 10n] : [1_300_000n, 13n];
  const pipeline = await world.open({
    file: `${which}.db`,
    watchesAccount: true,
    pipelining: { maxInFlight: 4, paceMs: 1, maxTransactionGas },
    fees: {
      synchronous: false,
      repriceAfterMs: 4_000,
      gasPriceWei: async () => (world.stack.gasPriceWei * gasPriceWei) / 10n,
    },
  });
  open.push(pipeline);
  return pipeline;
}

/** Stores requests that wait, told apart on chain by their number of words, and copies the database. Returns their ids. */
async function prepareCopies(): Promise<readonly string[]> {
  const first = await start("original");
  // Creates the dapp's subscriptions.
  await first.ended((await first.accept("random")).id);
  world.stopOracle();
  const ids: string[] = [];
  for (let i = 0; i < REQUESTS; i += 1) {
    const request = makeRequest("random", "0x");
    await first.book.add({ ...request, params: { ...request.params, numWords: 10 + i } });
    ids.push(request.id);
  }
  await backupDatabase(join(world.folder, "original.db"), join(world.folder, "copy.db"));
  return ids;
}

/** Returns the number of words of each of the requests on chain, sorted: one that occurs twice was doubled. */
const onChain = async (): Promise<number[]> =>
  (await world.events("RandomWordsRequested"))
    .map(({ numWords }) => numWords)
    .filter((numWords) => numWords >= 10)
    .toSorted((a, b) => a - b);

const twice = async (): Promise<number[]> =>
  (await onChain()).filter((numWords, i, all) => numWords === all[i - 1]);

/** Waits until one of the two has noticed the other, and what either has broadcast is on chain. */
async function waitForEnd(): Promise<void> {
  await vi.waitFor(() => expect(open.flatMap(({ inUse }) => inUse).length).toBeGreaterThan(0), 120_000);
  await vi.waitFor(async () => {
    const pool = (await rpc("txpool_status")) as { pending: string; queued: string };
    expect([Number(pool.pending), Number(pool.queued)]).toEqual([0, 0]);
  }, 120_000);
  for (const each of open.splice(0)) await each.close({ atOnce: true });
  expect(await onChain()).not.toEqual([]);
}

test("two services that start together on copies of a database send no request twice", async () => {
  await prepareCopies();
  await open.pop()!.close();
  await rpc("evm_setIntervalMining", 1);
  await Promise.all([start("original"), start("copy")]);
  await waitForEnd();
  expect(await twice()).toEqual([]);
});

test("two services that race after an outage of the node send no request twice", async () => {
  const ids = await prepareCopies();
  const original = open[0]!;
  await rpc("evm_setIntervalMining", 1);
  const endSends = world.node.inject(({ method }) => (SENDS.has(method) ? OUTAGE : undefined));
  await start("copy");
  for (const id of ids) original.pipeline.take(original.book.get(id)!);
  await vi.waitFor(() =>
    expect(world.node.calls.filter(({ method }) => SENDS.has(method)).length).toBeGreaterThan(4),
  );
  const endOutage = world.node.inject(() => OUTAGE);
  endSends();
  const before = world.node.calls.length;
  await vi.waitFor(() => expect(world.node.calls.length).toBeGreaterThan(before + 20));
  endOutage();
  await waitForEnd();
  expect(await twice()).toEqual([]);
});

test("a service that starts on a copy while the original sends doubles no request", async () => {
  const ids = await prepareCopies();
  const original = open[0]!;
  await rpc("evm_setIntervalMining", 1);
  for (const id of ids) original.pipeline.take(original.book.get(id)!);
  await vi.waitFor(async () => expect((await onChain()).length).toBeGreaterThan(0), 120_000);
  await start("copy");
  await waitForEnd();
  expect(await twice()).toEqual([]);
});
