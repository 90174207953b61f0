import { toHex, type Hex } from "viem";
import { expect, onTestFinished, test, vi } from "vitest";
import {
  createNetworkHealth,
  type NetworkHealthOptions,
} from "../../../src/requests/explain/networkHealth.ts";

const ADDRESS = `0x${"11".repeat(20)}` as const;
const ROUTER = `0x${"33".repeat(20)}` as const;
const HASH = `0x${"22".repeat(32)}` as const;
const COIN = 10n ** 18n;
const subscription = (dappId: string) => ({
  dappId,
  network: "sepolia",
  vrfSubscriptionId: 1n,
  functionsSubscriptionId: 1n,
});
const oracle = {
  lagMs: 0,
  pendingWords: 0,
  pendingFunctions: 0,
  blockNumber: 7,
  caughtUp: true,
  lowestAccounts: {},
};

/** The chain's answers: the reserve's balance, and whether the router is paused. */
const answers =
  (reserveJuels: bigint, isPaused = false) =>
  async ({ to }: { readonly to?: Hex | undefined }): Promise<Hex> =>
    toHex(to === ROUTER ? BigInt(isPaused) : reserveJuels, { size: 32 });

function healthWith(changes: Partial<NetworkHealthOptions>) {
  const now = performance.now();
  const head = {
    number: 7n,
    hash: HASH,
    parentHash: HASH,
    timestamp: 0n,
    firstSeenAtMs: now - 500,
    seenAtMs: now,
  };
  return createNetworkHealth({
    client: { getBalanceWei: async () => COIN, call: answers(90n * COIN) },
    watcher: { head: () => head },
    operator: ADDRESS,
    link: ADDRESS,
    subscriptionOwner: ADDRESS,
    functionsRouter: ROUTER,
    subscriptions: {
      list: () => [subscription("a"), subscription("b")],
      readBalances: async ({ dappId }) => ({
        vrfJuels: dappId === "a" ? 5n * COIN : 3n * COIN,
        vrfWei: 0n,
        functionsJuels: 9n * COIN,
      }),
    },
    spentBudgets: async () => [],
    lowSubscriptionJuels: COIN,
    openRequests: () => 4,
    queuedRequests: () => 1,
    damagedRequests: () => 0,
    oracle: () => oracle,
    ...changes,
  });
}

test("tells the node, the newest block, balances, what is in work and the oracle", async () => {
  const readiness = await healthWith({})();
  expect(readiness).toMatchObject({
    ready: true,
    rpcReachable: true,
    blockNumber: 7,
    operatorBalanceWei: COIN.toString(),
    subscriptions: {
      count: 2,
      lowestVrfJuels: (3n * COIN).toString(),
      lowestFunctionsJuels: (9n * COIN).toString(),
      reserveJuels: (90n * COIN).toString(),
    },
    pendingRequests: 4,
    queuedRequests: 1,
    oracleLagMs: 0,
    warnings: [],
  });
  expect(readiness.headAgeMs).toBeGreaterThanOrEqual(500);
});

test("says what an operator should see to, and stays ready", async () => {
  const read = healthWith({
    client: { getBalanceWei: async () => 5n, call: answers(0n) },
    lowSubscriptionJuels: 4n * COIN,
    damagedRequests: () => 2,
    oracle: () => ({
      ...oracle,
      lagMs: 300_000,
      waitsFor: "VRF subscription 1 is short",
      lowestAccounts: { vrf: { address: ADDRESS, balanceWei: 1n } },
    }),
  });
  const { ready, warnings } = await read();
  expect(ready).toBe(true);
  expect(warnings).toEqual([
    expect.stringContaining(`the operator ${ADDRESS} holds 5 wei`),
    expect.stringContaining(`the oracle's account (vrf) ${ADDRESS} holds 1 wei`),
    expect.stringContaining("a VRF subscription holds"),
    expect.stringContaining("for 300 s: VRF subscription 1 is short"),
    expect.stringContaining("2 requests are damaged in the database"),
  ]);
});

test("however often it is asked, the chain is asked once", async () => {
  let asked = 0;
  const read = healthWith({
    client: {
      getBalanceWei: async () => {
        asked += 1;
        return COIN;
      },
      call: async () => toHex(0n, { size: 32 }),
    },
  });
  await Promise.all(Array.from({ length: 20 }, read));
  await read();
  expect(asked).toBe(1);
});

test("a node that doesn't answer is a reading, with the reason", async () => {
  const read = healthWith({
    client: {
      getBalanceWei: () => Promise.reject(new Error("eth_getBalance: no answer within 10 s")),
      call: async () => "0x",
    },
  });
  expect(await read()).toMatchObject({
    ready: false,
    rpcReachable: false,
    why: "the chain can't be reached: eth_getBalance: no answer within 10 s",
    pendingRequests: 4,
  });
});

test("while the node doesn't answer, the newest block and the operator's balance are those known before", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  let isGone = false;
  const read = healthWith({
    client: {
      getBalanceWei: () => (isGone ? Promise.reject(new Error("refused")) : Promise.resolve(COIN)),
      call: answers(0n),
    },
  });
  await read();
  isGone = true;
  vi.advanceTimersByTime(10_000);
  expect(await read()).toMatchObject({
    rpcReachable: false,
    blockNumber: 7,
    operatorBalanceWei: COIN.toString(),
  });
});

test("a node that hangs is a reading, too; balances that take long are those read last", async () => {
  const never = new Promise<never>(() => {});
  expect(await healthWith({ client: { getBalanceWei: () => never, call: answers(0n) } })()).toMatchObject({
    ready: false,
    rpcReachable: false,
    why: "the chain can't be reached: no answer within 1500 ms",
  });
  const slow = healthWith({
    subscriptions: { list: () => [subscription("a")], readBalances: () => never },
  });
  const { ready, subscriptions } = await slow();
  expect([ready, subscriptions]).toEqual([true, undefined]);
});

test("isn't ready while the chain is paused, and says why", async () => {
  const read = healthWith({ chainPause: () => "its disk is full" });
  expect(await read()).toMatchObject({
    ready: false,
    why: "the chain is paused: its disk is full",
    rpcReachable: true,
  });
});

test("says why the chain is paused, too, where it answers no call meanwhile", async () => {
  const never = async () => {
    throw new Error("no answer");
  };
  const read = healthWith({
    chainPause: () => "its disk is full",
    client: { getBalanceWei: never, call: never },
  });
  expect(await read()).toMatchObject({
    ready: false,
    why: "the chain is paused: its disk is full",
    rpcReachable: false,
  });
});

test("a paused router and what the chain itself says are warnings", async () => {
  const read = healthWith({
    client: { getBalanceWei: async () => COIN, call: answers(90n * COIN, true) },
    chainWarnings: async () => ["automine is off"],
  });
  expect(await read()).toMatchObject({
    ready: true,
    warnings: [expect.stringContaining("router is paused"), "automine is off"],
  });
});

test("warns of dapps that have used up their daily budget", async () => {
  const warningsOf = async (dappIds: readonly string[]) =>
    (await healthWith({ spentBudgets: async () => dappIds })()).warnings;
  expect(await warningsOf(["a"])).toContainEqual(
    expect.stringContaining("a has used up the daily budget: no top-ups until 00:00 UTC"),
  );
  expect(await warningsOf(["a", "b", "c"])).toContainEqual(
    expect.stringContaining("a and 2 more dapps have"),
  );
});
