import { keccak256, stringToHex } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { fixedFees } from "../../../src/evm/fees.ts";
import { createGapFiller } from "../../../src/evm/gapFiller.ts";
import { fenceBook, fenceClient, fenceStore } from "../../../src/requests/takeover/fenced.ts";
import { createSenderJournal } from "../../../src/requests/dispatch/senderJournal.ts";
import type { Tracker } from "../../../src/requests/follow/tracker.ts";
import { DatabaseAwayError } from "../../../src/store/databaseAway.ts";
import { LeaseLostError } from "../../../src/store/leases.ts";
import type { Fence } from "../../../src/store/leases.ts";
import { insertDapp } from "../../../src/store/dapps.ts";
import {
  DESK_DAPP,
  DESK_NETWORK,
  startPipelineWorld,
  type OpenPipeline,
  type PipelineWorld,
} from "../../support/pipelineWorld.ts";
import { TEST_ROLES } from "../../support/stack.ts";

/** More than a subscription of the other tests holds. */
const ALLOWANCE = 3_000n * 10n ** 18n;
const FULL = { vrfJuels: ALLOWANCE, functionsJuels: ALLOWANCE };
const PATIENCE = { timeout: 60_000, interval: 25 };

let world: PipelineWorld;
let opened: OpenPipeline;
/** What another replica's take-over changes: in the database, and by this process's own clocks. */
let isHeld = true;
let isLive = true;
let isAbandoned = false;
/** Once this many transactions are signed, another replica holds the lease. */
let maxSigned = Infinity;
const fence: Fence = {
  async assertHeld(db) {
    const { length } = await db.selectFrom("transactions").select("hash").execute();
    if (!isHeld || length >= maxSigned) throw new LeaseLostError(DESK_NETWORK);
  },
  assertLive() {
    if (!isLive) throw new LeaseLostError(DESK_NETWORK);
  },
  abandon: () => void (isAbandoned = true),
};

beforeAll(async () => {
  world = await startPipelineWorld();
});
afterAll(() => world?.close());
beforeEach(async () => {
  isHeld = isLive = true;
  maxSigned = Infinity;
  opened = await world.open({ fence });
  await world.storeSource(opened.pipeline);
  await opened.ended((await opened.accept("preset")).id);
  // What the former test left is resumed, and may be sent after the preset.
  await vi.waitUntil(() => opened.book.open(DESK_NETWORK).length === 0, PATIENCE);
  world.errors.length = 0;
  world.node.calls.length = 0;
});
afterEach(() => opened.close({ atOnce: true }).catch(() => {}));

const sentBytes = (): readonly unknown[] =>
  world.node.calls.flatMap(({ method, params }) => (method.startsWith("eth_sendRaw") ? [params[0]] : []));
const countSigned = async (): Promise<number> =>
  (await opened.store.db.selectFrom("transactions").select("hash").execute()).length;
const untilRefused = (): Promise<void> =>
  vi.waitFor(
    () => expect(world.errors.some((error) => error instanceof LeaseLostError)).toBe(true),
    PATIENCE,
  );

const untilAccepted = async (id: string): Promise<void> =>
  vi.waitFor(
    async () =>
      expect(await opened.book.find(id)).toMatchObject({
        progress: { acceptedBlock: expect.any(Number) as number },
      }),
    PATIENCE,
  );

test.each(["preset", "function", "random", "consumer", "unlink"] as const)(
  "under a lost lease nothing is signed or sent for a request of kind %s",
  async (kind) => {
    if (kind === "unlink") await opened.ended((await opened.accept("consumer")).id);
    const signed = await countSigned();
    world.node.calls.length = 0;
    isHeld = isLive = false;
    const { id } = await opened.accept(kind);
    await untilRefused();
    expect(sentBytes()).toEqual([]);
    expect(await countSigned()).toBe(signed);
    expect(await opened.book.find(id)).toMatchObject({ state: "received", version: 1 });
  },
);

test("under a lost lease no subscriptions are made, and no source is stored", async () => {
  const signed = await countSigned();
  await insertDapp(opened.store.db, { id: "dapp_other", name: "other", facilities: [], createdAt: 1 });
  isHeld = isLive = false;
  await expect(opened.pipeline.subscriptions.ensure("dapp_other")).rejects.toThrow(LeaseLostError);
  const source = { source: "return 1", sourceHash: keccak256(stringToHex("return 1")) };
  await expect(opened.pipeline.storeSource(source)).rejects.toThrow(LeaseLostError);
  expect(sentBytes()).toEqual([]);
  expect(await countSigned()).toBe(signed);
});

test("what was signed and not sent before a pause is sent by whoever dispatches next, once", async () => {
  const before = (await world.events("BatchReported")).length;
  const signed = await countSigned();
  isLive = false;
  const { id } = await opened.accept("preset");
  await untilRefused();
  expect(sentBytes()).toEqual([]);
  expect(await countSigned()).toBe(signed + 1);
  isHeld = false;
  await opened.close({ atOnce: true });
  opened = await world.open();
  expect(await opened.ended(id)).toMatchObject({ state: "fulfilled" });
  expect(await world.events("BatchReported")).toHaveLength(before + 1);
});

test("under a lost lease a block changes nothing of what is stored", async () => {
  world.stopOracle();
  const { id } = await opened.accept("random");
  await untilAccepted(id);
  const stored = await opened.book.find(id);
  isHeld = isLive = false;
  world.startOracle();
  await untilRefused();
  expect(await opened.book.find(id)).toEqual(stored);
  isHeld = isLive = true;
  expect(await opened.ended(id)).toMatchObject({ state: "fulfilled" });
});

test("a pipeline whose write may have been committed is given up; one whose write was refused goes on", async () => {
  isAbandoned = false;
  const refusal = new Error("refused");
  const away = new DatabaseAwayError(new Error("Connection terminated unexpectedly"));
  for (const [error, given] of [
    [refusal, false],
    [away, true],
  ] as const) {
    const store = fenceStore({ ...opened.store, write: () => Promise.reject(error) }, fence);
    await expect(store.write(async () => {})).rejects.toBe(error);
    expect(isAbandoned).toBe(given);
    isAbandoned = false;
    const book = fenceBook({ ...opened.book, change: () => Promise.reject(error) }, fence);
    await expect(book.change(() => [])).rejects.toBe(error);
    expect(isAbandoned).toBe(given);
  }
});

test("under a lost lease no subscription is topped up; afterwards it is, once", async () => {
  const signed = await countSigned();
  await opened.close();
  isHeld = isLive = false;
  world.node.calls.length = 0;
  // The subscription holds less than half of this.
  opened = await world.open({ fence, allowanceJuels: ALLOWANCE });
  opened.pipeline.subscriptions.used(DESK_DAPP);
  await untilRefused();
  expect(sentBytes()).toEqual([]);
  expect(await countSigned()).toBe(signed);
  isHeld = isLive = true;
  const { subscriptions } = opened.pipeline;
  await vi.waitFor(
    async () => expect(await subscriptions.readBalances(subscriptions.find(DESK_DAPP)!)).toMatchObject(FULL),
    PATIENCE,
  );
});

test("under a lost lease no request is timed out; afterwards it is, once", async () => {
  world.stopOracle();
  const { id } = await opened.accept("function");
  await untilAccepted(id);
  const signed = await countSigned();
  world.node.calls.length = 0;
  isHeld = isLive = false;
  await world.stack.client.request("evm_increaseTime", [301]);
  await world.stack.client.request("anvil_mine", ["0x1"]);
  await untilRefused();
  expect(sentBytes()).toEqual([]);
  expect(await countSigned()).toBe(signed);
  isHeld = isLive = true;
  expect(await opened.ended(id)).toMatchObject({ state: "failed", error: { code: "oracle_timeout" } });
  expect(await world.events("RequestTimedOut")).toHaveLength(1);
  world.startOracle();
});

test("under a lost lease a transaction that is stuck is not repriced", async () => {
  await opened.close();
  opened = await world.open({ fence, fees: { synchronous: false, repriceAfterMs: 200 } });
  maxSigned = (await countSigned()) + 1;
  await world.stack.client.request("evm_setAutomine", [false]);
  try {
    world.node.calls.length = 0;
    const { id } = await opened.accept("random");
    await untilRefused();
    expect(await countSigned()).toBe(maxSigned);
    expect(new Set(sentBytes()).size).toBe(1);
    maxSigned = Infinity;
    await world.stack.client.request("evm_setAutomine", [true]);
    await world.stack.client.request("anvil_mine", ["0x1"]);
    expect(await opened.ended(id)).toMatchObject({ state: "fulfilled" });
  } finally {
    await world.stack.client.request("evm_setAutomine", [true]);
  }
});

test("under a lost lease no gap is filled: without its row the filler isn't stored, without its clock not sent", async () => {
  const { store, book, client } = opened;
  const account = TEST_ROLES.operator;
  const spent = await client.getNonce(account.address, "latest");
  const signed = await countSigned();
  world.node.calls.length = 0;
  const gaps = createGapFiller({
    client: fenceClient(client, fence),
    account,
    chainId: world.stack.chainId,
    fees: fixedFees(world.stack.gasPriceWei, { synchronous: true }),
    journal: createSenderJournal({
      network: DESK_NETWORK,
      account: account.address,
      store: fenceStore(store, fence),
      book: fenceBook(book, fence),
      tracker: { track() {} } as unknown as Tracker,
      headNumber: () => 0n,
    }),
    onError: () => {},
    inFlight: new Set(),
  });
  isHeld = false;
  await expect(gaps.fill(spent + 1)).rejects.toThrow(LeaseLostError);
  expect(await countSigned()).toBe(signed);
  isHeld = true;
  isLive = false;
  await expect(gaps.fill(spent + 1)).rejects.toThrow(LeaseLostError);
  expect(await countSigned()).toBe(signed + 1);
  expect(sentBytes()).toEqual([]);
  isLive = true;
  // The stored transaction is sent, and nothing else is signed in its place.
  await gaps.fill(spent + 1);
  expect(await countSigned()).toBe(signed + 1);
  await vi.waitFor(
    async () => expect(await client.getNonce(account.address, "latest")).toBe(spent + 1),
    PATIENCE,
  );
});
