import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { fenceBook, fenceStore } from "../../src/requests/fenced.ts";
import { createSourcePrefix } from "../../src/requests/sources.ts";
import { DatabaseAwayError } from "../../src/store/databaseAway.ts";
import { LeaseLostError } from "../../src/store/leases.ts";
import type { Fence } from "../../src/store/leases.ts";
import { insertDapp } from "../../src/store/dapps.ts";
import {
  DESK_NETWORK,
  startPipelineWorld,
  type OpenPipeline,
  type PipelineWorld,
} from "../support/pipelineWorld.ts";

const PATIENCE = { timeout: 60_000, interval: 25 };
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let world: PipelineWorld;
let opened: OpenPipeline;
/** What another replica's take-over changes: in the database, and by this process's own clocks. */
let isHeld = true;
let isLive = true;
let isAbandoned = false;
const fence: Fence = {
  async assertHeld() {
    if (!isHeld) throw new LeaseLostError(DESK_NETWORK);
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
  opened = await world.open({ fence });
  await world.storeSource(opened.pipeline);
  await opened.ended((await opened.accept("preset")).id);
  world.errors.length = 0;
  world.node.calls.length = 0;
});
afterEach(() => opened.close({ atOnce: true }).catch(() => {}));

const countSent = (): number =>
  world.node.calls.filter(({ method }) => method.startsWith("eth_sendRawTransaction")).length;
const countSigned = async (): Promise<number> =>
  (await opened.store.db.selectFrom("transactions").select("hash").execute()).length;
const untilRefused = (): Promise<void> =>
  vi.waitFor(
    () => expect(world.errors.some((error) => error instanceof LeaseLostError)).toBe(true),
    PATIENCE,
  );

test.each(["preset", "function", "random", "consumer", "unlink"] as const)(
  "error: under a lost lease nothing is signed or sent for a request of kind %s",
  async (kind) => {
    if (kind === "unlink") await opened.ended((await opened.accept("consumer")).id);
    const signed = await countSigned();
    world.node.calls.length = 0;
    isHeld = isLive = false;
    const { id } = await opened.accept(kind);
    await untilRefused();
    expect(countSent()).toBe(0);
    expect(await countSigned()).toBe(signed);
    expect(await opened.book.find(id)).toMatchObject({ state: "received", version: 1 });
  },
);

test("error: under a lost lease no subscriptions are made, and no source is stored", async () => {
  const signed = await countSigned();
  await insertDapp(opened.store.db, { id: "dapp_other", name: "other", facilities: [], createdAt: 1 });
  isHeld = isLive = false;
  await expect(opened.pipeline.subscriptions.ensure("dapp_other")).rejects.toThrow(LeaseLostError);
  await expect(opened.pipeline.storeSource(createSourcePrefix("return 1"))).rejects.toThrow(LeaseLostError);
  expect(countSent()).toBe(0);
  expect(await countSigned()).toBe(signed);
});

test("behaviour: what was signed and not sent before a pause is sent by whoever dispatches next, once", async () => {
  const before = (await world.events("PresetSent")).length;
  const signed = await countSigned();
  isLive = false;
  const { id } = await opened.accept("preset");
  await untilRefused();
  expect(countSent()).toBe(0);
  expect(await countSigned()).toBe(signed + 1);
  isHeld = false;
  await opened.close({ atOnce: true });
  opened = await world.open();
  expect(await opened.ended(id)).toMatchObject({ state: "fulfilled" });
  expect(await world.events("PresetSent")).toHaveLength(before + 1);
});

test("error: under a lost lease a block changes nothing of what is stored", async () => {
  world.stopOracle();
  const { id } = await opened.accept("random");
  await vi.waitFor(
    async () =>
      expect(await opened.book.find(id)).toMatchObject({
        progress: { acceptedBlock: expect.any(Number) as number },
      }),
    PATIENCE,
  );
  const stored = await opened.book.find(id);
  isHeld = isLive = false;
  world.startOracle();
  await untilRefused();
  expect(await opened.book.find(id)).toEqual(stored);
  isHeld = isLive = true;
  expect(await opened.ended(id)).toMatchObject({ state: "fulfilled" });
});

test("error: a pipeline whose write may have been committed is given up; one whose write was refused goes on", async () => {
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
    await expect(book.change([])).rejects.toBe(error);
    expect(isAbandoned).toBe(given);
  }
});
