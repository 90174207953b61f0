import { encodeFunctionResult, type Hex } from "viem";
import { expect, test } from "vitest";
import { presetConsumerAbi } from "../../../src/chainlink/contracts/abi.ts";
import type { StackAddresses } from "../../../src/chainlink/stackPlan.ts";
import { assertOperator, identityOf } from "../../../src/networks/external/externalSource.ts";
import { testAccount } from "../../support/anvil.ts";

const [operator, stranger] = [testAccount(1).address, testAccount(2).address];
const presetConsumer: Hex = `0x${"cd".repeat(20)}`;
const file = { network: "mychain", contracts: { presetConsumer } as StackAddresses };
const client = {
  async call({ to }: { to?: Hex | undefined }): Promise<Hex> {
    expect(to).toBe(presetConsumer);
    return encodeFunctionResult({ abi: presetConsumerAbi, functionName: "OPERATOR", result: operator });
  },
};

test("the key that the contracts were deployed for is taken", async () => {
  await expect(assertOperator(client, file, operator.toLowerCase() as Hex)).resolves.toBeUndefined();
});

test("another key is refused, and the message names both accounts", async () => {
  await expect(assertOperator(client, file, stranger)).rejects.toMatchObject({
    code: "chain_unavailable",
    message: `networks.mychain.operatorKey is the key of ${stranger}, but the contracts accept requests only from ${operator}; name that account's key`,
  });
});

test("two chains with the same first block and the same contracts differ by their chain id", () => {
  const contracts = { presetConsumer, vrfCoordinator: presetConsumer } as StackAddresses;
  const deployed = { genesis: `0x${"11".repeat(32)}` as const, contracts };
  expect(identityOf(31_338, deployed)).not.toBe(identityOf(31_337, deployed));
});
