import { parseEther, toHex, type Hex } from "viem";
import { expect, test } from "vitest";
import type { ChainClient } from "../../../src/evm/client.ts";
import type { ContractsFile } from "../../../src/networks/external/contractsFile.ts";
import { fundNetwork } from "../../../src/networks/external/fundNetwork.ts";
import { NETWORKS } from "../../../src/networks/profiles.ts";
import { testAccount } from "../../support/anvil.ts";
import { fixedFees } from "../../../src/evm/fees.ts";

const addressOf = (at: number): Hex => toHex(at, { size: 20 });

test("what holds enough already is named with what it holds, and nothing is sent", async () => {
  const client = {
    call: async () => toHex(parseEther("60"), { size: 32 }),
    getBalanceWei: async () => parseEther("0.5"),
  } as unknown as ChainClient;
  const contracts = {
    contracts: { link: addressOf(1), subscriptionOwner: addressOf(2) },
    oracle: { vrf: { feeReceiver: addressOf(3) }, functions: { transmitters: [addressOf(4)] } },
    existing: {},
    isLinkOurs: true,
  } as unknown as ContractsFile;
  const told: string[] = [];
  await fundNetwork({
    profile: NETWORKS.sepolia,
    client,
    operator: testAccount(0),
    fees: fixedFees(1n, { synchronous: true }),
    contracts,
    reserveJuels: parseEther("50"),
    coinWei: parseEther("0.5"),
    onTransfer: ({ what }) => told.push(`sent ${what}`),
    onEnough: (sentence) => told.push(sentence),
  });
  const { coin } = NETWORKS.sepolia;
  expect(told).toEqual([
    "the reserve holds 60 LINK, and 50 were requested",
    `${addressOf(3)} holds 0.5 ${coin}, and 0.5 were requested`,
    `${addressOf(4)} holds 0.5 ${coin}, and 0.5 were requested`,
  ]);
});
