import { expect, test } from "vitest";
import { readDappBalances } from "../../src/dapps/balances.ts";
import type { SubscribedNetwork } from "../../src/dapps/readByNetwork.ts";
import type { SubscriptionBalances } from "../../src/dapps/subscriptionReads.ts";

const DAPP_ID = "dapp_test";

function networkWith(
  readBalances: () => Promise<SubscriptionBalances>,
  isCreated = true,
): SubscribedNetwork<"readBalances"> {
  const subscription = {
    dappId: DAPP_ID,
    network: "a",
    vrfSubscriptionId: 1n,
    functionsSubscriptionId: 2n,
  };
  return {
    intake: () => ({ subscriptions: { find: () => (isCreated ? subscription : undefined), readBalances } }),
  };
}

test("LINK and coin are decimal, and a network that can't be read is left out", async () => {
  const balances = { vrfJuels: 3n, vrfWei: 10n ** 17n, functionsJuels: 5n };
  const networks = new Map([
    ["read", networkWith(async () => balances)],
    ["unreachable", networkWith(() => Promise.reject(new Error("no answer")))],
    ["new", networkWith(async () => balances, false)],
    ["starting", { intake: () => undefined }],
  ]);
  expect([...(await readDappBalances(networks, DAPP_ID))]).toEqual([
    ["read", { vrfJuels: "3", vrfWei: "100000000000000000", functionsJuels: "5" }],
  ]);
});
