import { expect, test } from "vitest";
import { assertVrfWorks } from "../../../src/networks/external/deployNetwork.ts";

const clientOf = (head: object) => ({ request: async () => head });
const arbitrum = clientOf({ number: "0x10", l1BlockNumber: "0x5" });

test.each([
  ["an Ethereum", clientOf({ number: "0x10" }), 1, "v2.5"],
  ["Arbitrum Sepolia", arbitrum, 421_614, "v2"],
] as const)("%s chain has its coordinator", async (_, client, chainId, vrfVersion) => {
  await expect(assertVrfWorks(client, { network: "mine", chainId, vrfVersion })).resolves.toBeUndefined();
});

test.each([
  ["Arbitrum Sepolia", 421_614, "v2.5", 'set "vrf" to "v2"'],
  ["another chain of its kind", 4_078, "v2", 'set "vrf" to Chainlink'],
  ["another chain of its kind", 4_078, "v2.5", 'set "vrf" to Chainlink'],
] as const)("%s (%i) with %s says what to set", async (_, chainId, vrfVersion, remedy) => {
  await expect(assertVrfWorks(arbitrum, { network: "mine", chainId, vrfVersion })).rejects.toThrow(
    expect.objectContaining({ message: expect.stringContaining(remedy) }),
  );
});
