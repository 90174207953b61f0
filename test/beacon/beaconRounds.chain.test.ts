import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { createBeaconRounds, type BeaconState } from "../../src/beacon/beaconRounds.ts";
import { drandRoundTime, QUICKNET } from "../../src/beacon/drand.ts";
import {
  pathOf,
  QUICKNET_HASH,
  QUICKNET_ROUNDS,
  startDrandRelay,
  type DrandRelay,
} from "../support/drandRelay.ts";

const DUE_MS = 1_000 * drandRoundTime(QUICKNET, 1000n);

let relay: DrandRelay;
/** The newest round that the relay has. */
let newest: bigint;
beforeEach(async () => {
  newest = 999n;
  relay = await startDrandRelay(QUICKNET, (round) =>
    round <= newest ? QUICKNET_ROUNDS.get(round) : undefined,
  );
});
afterEach(() => relay.close());

/** Follows rounds with a clock that is off; returns a function that tells the state of a round, of 1000 by default. */
function follow(nowMs: number): (round?: bigint) => BeaconState {
  vi.useFakeTimers({ toFake: ["Date"], now: nowMs });
  const closing = new AbortController();
  onTestFinished(() => {
    closing.abort();
    vi.useRealTimers();
  });
  const terms = [{ chain: QUICKNET, relays: [relay.url], marginSeconds: 3 }];
  const rounds = createBeaconRounds({ terms, signal: closing.signal });
  return (round = 1000n) => rounds.ask({ round, chainHash: QUICKNET_HASH });
}

test("a clock that is fast asks too early, and waits for the very round", async () => {
  const state = follow(DUE_MS + 3_600_000);
  await vi.waitFor(() => {
    expect(state()).toMatchObject({ kind: "awaited", why: expect.stringContaining("HTTP status 404") });
  });
  // By then there is a newer one.
  newest = 1001n;
  const signature = QUICKNET_ROUNDS.get(1000n)!;
  await vi.waitFor(() => expect(state()).toEqual({ kind: "known", signature }));
  expect(new Set(relay.asked)).toEqual(new Set([pathOf(QUICKNET, 1000n)]));
});

test("a clock that is slow asks for nothing before its time", async () => {
  newest = 1001n;
  const state = follow(DUE_MS - 3_600_000);
  await vi.waitFor(() =>
    expect(state()).toMatchObject({ why: expect.stringContaining("due at 2023-08-23T15:59:24") }),
  );
  expect(relay.asked).toEqual([]);
});

test("more rounds than are remembered may be awaited at once, and each is known in its time", async () => {
  const state = follow(DUE_MS);
  newest = 1000n;
  await vi.waitFor(() => {
    for (let round = 2_000n; round <= 3_000n; round += 1n) expect(state(round).kind).toBe("awaited");
    expect(state()).toEqual({ kind: "known", signature: QUICKNET_ROUNDS.get(1000n)! });
  });
});
