import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toHex } from "viem";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import type { ChainEventOf } from "../../../src/chainlink/events.ts";
import { encodeTimeouts } from "../../../src/chainlink/functionsTimeout.ts";
import { beaconWord } from "../../../src/chainlink/presetBatch.ts";
import { drandRoundTime, QUICKNET, type LateBeacons } from "../../../src/beacon/drand.ts";
import { toWord } from "../../../src/lib/uint256.ts";
import { createLateBeacons, type LateBeaconCalls } from "../../../src/requests/lateBeacons.ts";
import { createSqliteDialect } from "../../../src/store/sqliteDialect.ts";
import { openStore } from "../../../src/store/store.ts";
import { eventsOf } from "../../support/delivery.ts";
import { TEST_ROLES } from "../../support/stack.ts";
import {
  DEAD_RELAY,
  QUICKNET_HASH,
  QUICKNET_ROUNDS,
  startDrandRelay,
  type DrandRelay,
} from "../../support/drandRelay.ts";
import { startPipelineWorld, type OpenPipeline, type PipelineWorld } from "../../support/pipelineWorld.ts";

const DUE = drandRoundTime(QUICKNET, 1000n);
const TIME = new Date(DUE * 1000).toISOString();
const beacon = { round: "1000", time: TIME, chainHash: QUICKNET_HASH };
const params = { preset: "test", beacon };
const functionParams = { source: "return Buffer.from(bytesArgs[0])", args: [], returnType: "string", beacon };

let world: PipelineWorld;
let pipeline: OpenPipeline;
let relay: DrandRelay;
let late: LateBeacons & LateBeaconCalls;
let signature: Uint8Array | undefined;
/** Called when the price of gas is asked for, just before a transaction is signed. */
let onPrice: () => void;

beforeEach(async () => {
  signature = undefined;
  onPrice = () => {};
  relay = await startDrandRelay(QUICKNET, () => signature);
  const folder = mkdtempSync(join(tmpdir(), "tyche-rounds-"));
  const store = await openStore(createSqliteDialect(join(folder, "db")));
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  late = createLateBeacons({ db: store.db, findChain: () => QUICKNET, onError: () => {} });
  const terms = { chain: QUICKNET, relays: [DEAD_RELAY, relay.url], marginSeconds: 3, late };
  // The chain's clock is before the round, and this machine's long after it: a round that was ahead is late at once.
  world = await startPipelineWorld({ startsAt: DUE - 3_600, beacon: terms });
  const { gasPriceWei } = world.stack;
  pipeline = await world.open({ fees: { gasPriceWei: async () => (onPrice(), gasPriceWei) } });
  await world.storeSource(pipeline.pipeline);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await pipeline.close();
  await world.close();
  await relay.close();
});

/** Requests a preset or a function, and waits until nothing but its round is missing. */
async function requestLate(kind: "preset" | "function" = "preset") {
  const clock = vi.spyOn(Date, "now").mockReturnValue(DUE * 1000 - 1);
  const { id } = await pipeline.accept(kind, { params: kind === "preset" ? params : functionParams });
  const state = kind === "preset" ? "randomness" : "executing";
  await vi.waitFor(async () => expect((await pipeline.book.find(id))!.state).toBe(state));
  clock.mockRestore();
  await vi.waitFor(async () => {
    const request = (await pipeline.book.find(id))!;
    const why = await pipeline.pipeline.explain(request);
    // Both relays have answered.
    expect(why).toContain("127.0.0.1:9:");
    expect(why).toContain("HTTP status 404");
    expect(why).toMatch(/^no relay has drand's round 1000, which was due at /);
  });
  return id;
}

test("why says that the round is late, and which relay said what; whoever has the round settles it", async () => {
  const id = await requestLate();
  // Far more than the oracle's own time, which begins once it has the round.
  const watched = vi.spyOn(pipeline.watcher, "watched");
  let totalMs = 0;
  watched.mockImplementation(() => ({ totalMs: (totalMs += 301_000), sinceGapMs: Infinity }));
  await vi.waitFor(() => expect(watched.mock.calls.length).toBeGreaterThan(10), { interval: 100 });
  expect((await pipeline.book.find(id))!.state).toBe("randomness");
  watched.mockRestore();
  signature = QUICKNET_ROUNDS.get(1000n)!;
  expect(await pipeline.ended(id)).toMatchObject({ state: "fulfilled", error: null });
});

test("no relay ever has the round: whoever hands its signature in settles it", async () => {
  const id = await requestLate();
  const round = { round: 1000n, chainHash: QUICKNET_HASH };
  await expect(late.handIn(round, toHex(QUICKNET_ROUNDS.get(1001n)!), async () => {})).rejects.toThrow(
    "it is not that of round 1000",
  );
  await late.handIn(round, toHex(QUICKNET_ROUNDS.get(1000n)!), async () => {});
  expect(await pipeline.ended(id)).toMatchObject({ state: "fulfilled", error: null });
});

test("no round within a day ends the request as late, and the oracle still answers on chain", async () => {
  const id = await requestLate();
  const watched = vi.spyOn(pipeline.watcher, "watched");
  let totalMs = 0;
  watched.mockImplementation(() => ({ totalMs: (totalMs += 86_401_000), sinceGapMs: Infinity }));
  const ended = await pipeline.ended(id);
  expect(ended).toMatchObject({
    state: "failed",
    error: {
      code: "beacon_late",
      message: expect.stringMatching(/^the round did not come within 24 hours.*HTTP status 404/),
    },
  });
  watched.mockRestore();
  signature = QUICKNET_ROUNDS.get(1000n)!;
  await vi.waitFor(async () => expect(await world.events("BatchReported")).toHaveLength(1));
  expect(await pipeline.book.find(id)).toEqual(ended);
});

test("a function waits for a late round, too, and is settled by whoever has it", async () => {
  const id = await requestLate("function");
  signature = QUICKNET_ROUNDS.get(1000n)!;
  const { outcome, progress } = await pipeline.ended(id);
  const requestId = progress.functionsRequestId!;
  expect(outcome).toMatchObject({ parsedResult: toWord(beaconWord(0n, { signature, requestId })) });
});

test("a function that is timed out on chain while its round is late says so", async () => {
  const id = await requestLate("function");
  const { progress } = (await pipeline.book.find(id))!;
  const transaction = (await world.stack.client.getReceipt(progress.transactionHashes![0]!))!;
  const [{ commitment }] = eventsOf(transaction, "OracleRequest") as [ChainEventOf<"OracleRequest">];
  await world.stack.client.request("evm_increaseTime", [301]);
  // Anybody may do so.
  const to = world.stack.addresses.functionsRouter;
  await world.stack.send(TEST_ROLES.transmitters[0]!, { to, data: encodeTimeouts([commitment]) });
  expect((await pipeline.ended(id)).error).toEqual({
    code: "beacon_late",
    message: expect.stringMatching(/^the round did not come in time, .*: no relay has drand's/),
  });
});

test("a round that is due before the request can be sent ends it, and nothing is sent", async () => {
  const { id } = await pipeline.accept("preset", { params });
  const ended = await pipeline.ended(id);
  expect(ended).toMatchObject({
    state: "failed",
    error: {
      code: "beacon_missed",
      message: `drand's round 1000 was due at ${TIME}, before the request could be sent to sepolia: it was not sent, as its result could be known by now; make a new request, with the same label if it has one`,
    },
  });
  expect(ended.progress).not.toHaveProperty("transactionHashes");
});

test("a request whose round is due once its transaction can be signed isn't sent either, and holds up no other", async () => {
  const clock = vi.spyOn(Date, "now").mockReturnValue(DUE * 1000 - 1);
  onPrice = () => clock.mockRestore();
  const ids = await Promise.all(
    [params, params, { preset: "test" }].map(
      async (one) => (await pipeline.accept("preset", { params: one })).id,
    ),
  );
  const ended = await Promise.all(ids.map((id) => pipeline.ended(id)));
  expect(ended.map(({ error }) => error?.code)).toEqual(["beacon_missed", "beacon_missed", undefined]);
});
