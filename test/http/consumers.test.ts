import { expect, test } from "vitest";
import { findConsumers } from "../../src/http/routes/consumers.ts";

const OWN = "0xOwn";
const SHARED = "0xShared";
const LOST = "0xLost";
const NETWORKS = ["fuji", "sepolia", "starting"];

type Deps = Parameters<typeof findConsumers>[1];

/** Two chains that have the same contracts, and one that can't be reached. */
const service = {
  findNetwork: () => ({ contracts: { presetConsumer: OWN } }),
  listRequests: async () => ({
    // Newest first: linked again twice, once after it was unlinked, and once while it was linked.
    items: [3, 2, 1].flatMap((updatedAt) =>
      ["sepolia", "fuji"].map((network) => ({
        network,
        params: { consumer: SHARED },
        outcome: { transactionHash: `0x${network}${updatedAt === 1 ? "before" : ""}` },
        updatedAt: `1970-01-01T00:00:00.00${updatedAt}Z`,
      })),
    ),
  }),
} as unknown as Deps["service"];
const part = {
  readConfigVars: async () => ({
    networks: NETWORKS.map((network) => ({
      network,
      consumers: [LOST],
      vrfSubscriptionId: "1",
      functionsSubscriptionId: "2",
    })),
  }),
  readChainConsumers: async () =>
    new Map(
      ["fuji", "sepolia"].map((network) => [
        network,
        new Map([OWN, SHARED].map((address) => [address, { isOnVrf: true, isOnFunctions: address === OWN }])),
      ]),
    ),
} as unknown as Deps["part"];

const list = async () => await findConsumers({ id: "dapp_1" } as never, { service, part });

test("each contract is listed as its chain has it, with the link of that chain; the service's own is not", async () => {
  const { linked } = await list();
  expect(linked.map(({ network, address }) => `${address} ${network}`)).toEqual([
    "0xLost fuji",
    "0xShared fuji",
    "0xLost sepolia",
    "0xShared sepolia",
    "0xLost starting",
  ]);
  for (const one of linked.filter(({ address }) => address === SHARED))
    expect(one).toMatchObject({
      onChain: { vrf: true, functions: false },
      linkedAt: "1970-01-01T00:00:00.002Z",
      transactionHash: `0x${one.network}`,
    });
});

test("what the chain has lost is on nothing, and a chain that can't be asked is told apart from that", async () => {
  const { linked } = await list();
  const lost = linked
    .filter(({ address }) => address === LOST)
    .map(({ network, onChain }) => [network, onChain]);
  expect(Object.fromEntries(lost)).toEqual({
    fuji: { vrf: false, functions: false },
    sepolia: { vrf: false, functions: false },
    starting: null,
  });
});
