import { encodeDeployData, encodeFunctionData, getContractAddress, zeroAddress, type Hex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { functionsRouterAbi, subscriptionOwnerAbi } from "../../../src/chainlink/contracts/abi.ts";
import { consentMessage } from "../../../src/chainlink/secretsConsent.ts";
import { createChainClient, type ChainClient } from "../../../src/evm/client.ts";
import { RpcError } from "../../../src/lib/nodeAnswers.ts";
import { createAuthority } from "../../../src/oracle/secrets/authority.ts";
import { testAccount } from "../../support/anvil.ts";
import { provisionDapp } from "../../support/consumer.ts";
import { revertOf } from "../../support/reverts.ts";
import { compileSolidity } from "../../support/solidity.ts";
import { startTestStack, TEST_ROLES, type TestStack } from "../../support/stack.ts";

const WALLET = testAccount(7);
const ADDRESS = WALLET.address.toLowerCase();
const { operator, deployer } = TEST_ROLES;

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.close());

/** Returns whose secrets the nodes open for a subscription of a SubscriptionOwner. */
const findUploader = (subscriptionId: bigint, subscriptionOwner = stack.addresses.subscriptionOwner) =>
  authorityOf(stack.client, subscriptionOwner).findUploader(subscriptionId);

const authorityOf = (client: ChainClient, subscriptionOwner = stack.addresses.subscriptionOwner) =>
  createAuthority({
    client,
    chainId: stack.chainId,
    router: stack.addresses.functionsRouter,
    subscriptionOwner,
  });

const sign = (subscriptionId: bigint, number: bigint, changed: { readonly chainId?: number } = {}) => {
  const { chainId, addresses } = stack;
  const { subscriptionOwner } = addresses;
  const consent = { chainId, subscriptionOwner, subscriptionId, signer: WALLET.address, number, ...changed };
  return WALLET.signMessage(Buffer.from(consentMessage(consent)));
};

const encodeNaming = (subscriptionId: bigint, signer: Hex, signature: Hex): Hex =>
  encodeFunctionData({
    abi: subscriptionOwnerAbi,
    functionName: "setSecretsSigner",
    args: [subscriptionId, signer, signature],
  });
const send = async (data: Hex, from = operator) => {
  const { succeeded } = await stack.send(from, { to: stack.addresses.subscriptionOwner, data });
  expect(succeeded).toBe(true);
};
const name = (...naming: Parameters<typeof encodeNaming>) => send(encodeNaming(...naming));
const withdraw = (subscriptionId: bigint) =>
  send(
    encodeFunctionData({
      abi: subscriptionOwnerAbi,
      functionName: "withdrawSecretsConsent",
      args: [subscriptionId],
    }),
    WALLET,
  );
const refusalOf = (...naming: Parameters<typeof encodeNaming>) =>
  revertOf(stack, {
    from: operator.address,
    to: stack.addresses.subscriptionOwner,
    data: encodeNaming(...naming),
  });

test("an account that consents is the uploader until the operator or the account ends it", async () => {
  const { functionsSubId: id } = await provisionDapp(stack, "consenting");
  expect(await findUploader(id)).toBeUndefined();
  await name(id, WALLET.address, await sign(id, 0n));
  expect(await findUploader(id)).toBe(ADDRESS);
  await name(id, zeroAddress, "0x");
  expect(await findUploader(id)).toBeUndefined();
  await name(id, WALLET.address, await sign(id, 1n));
  expect(await findUploader(id)).toBe(ADDRESS);
  await withdraw(id);
  expect(await findUploader(id)).toBeUndefined();
});

test("behind a URL, the answer of a node that lacks the request's block isn't taken, and a later withdrawal counts", async () => {
  const { functionsSubId: id } = await provisionDapp(stack, "lagging");
  const client = createChainClient(stack.rpcUrl);
  const authority = authorityOf(client);
  const read = (seenBlock: bigint) =>
    Promise.all([
      authority.findUploader(id, seenBlock),
      authority.isOperator(id, operator.address, seenBlock),
    ]);
  const ahead = (await client.getHead("latest"))!.number + 1n;
  await expect(authority.findUploader(id, ahead)).rejects.toThrow(RpcError);
  await expect(authority.isOperator(id, operator.address, ahead)).rejects.toThrow(RpcError);
  await name(id, WALLET.address, await sign(id, 0n));
  expect(await read(ahead)).toEqual([ADDRESS, true]);
  await withdraw(id);
  expect(await read(ahead)).toEqual([undefined, true]);
});

test("a signature that isn't this account's consent for this subscription, contract and chain", async () => {
  const { functionsSubId: id } = await provisionDapp(stack, "refusing");
  const { functionsSubId: other } = await provisionDapp(stack, "another");
  const refusal = expect.stringContaining(`NoConsent(Requests of Functions subscription ${id} may read`);
  for (const signature of ["0x", `0x${"00".repeat(65)}`, await sign(other, 0n), await sign(id, 1n)] as const)
    expect(await refusalOf(id, WALLET.address, signature)).toEqual(refusal);
  expect(await refusalOf(id, WALLET.address, await sign(id, 0n, { chainId: 1 }))).toEqual(refusal);
  expect(await refusalOf(id, operator.address, await sign(id, 0n))).toEqual(refusal);
  expect(await refusalOf(id, WALLET.address, await sign(id, 0n))).toBeUndefined();
});

test("a consent that was used, or withdrawn before its use", async () => {
  const { functionsSubId: id } = await provisionDapp(stack, "replaying");
  const [used, unused] = [await sign(id, 0n), await sign(id, 1n)];
  await name(id, WALLET.address, used);
  expect(await refusalOf(id, WALLET.address, used)).toContain("consent 1)");
  await withdraw(id);
  expect(await refusalOf(id, WALLET.address, used)).toContain("consent 2)");
  expect(await refusalOf(id, WALLET.address, unused)).toContain("consent 2)");
});

test("a contract of the operator's that shows an account's consent to another contract is not believed", async () => {
  const forged = compileSolidity(
    "Forged",
    `pragma solidity ^0.8.19;
     interface Router { function createSubscription() external returns (uint64); }
     contract Forged {
       address immutable VICTIM;
       bytes signature;
       constructor(Router router, address victim, bytes memory s) { router.createSubscription(); (VICTIM, signature) = (victim, s); }
       function secretsSignerOf(uint64) external view returns (address) { return VICTIM; }
       function secretsConsentOf(uint64) external view returns (address, uint96, bytes memory) { return (VICTIM, 0, signature); }
     }`,
  );
  const { client, viem, addresses } = stack;
  const router = { address: addresses.functionsRouter, abi: functionsRouterAbi } as const;
  const id = (await viem.readContract({ ...router, functionName: "getSubscriptionCount" })) + 1n;
  const nonce = BigInt(await client.getNonce(deployer.address, "latest"));
  const args = [addresses.functionsRouter, WALLET.address, await sign(id, 0n)];
  expect((await stack.send(deployer, { data: encodeDeployData({ ...forged, args }) })).succeeded).toBe(true);
  const owner = getContractAddress({ from: deployer.address, nonce });
  const subscription = await viem.readContract({ ...router, functionName: "getSubscription", args: [id] });
  expect(subscription.owner).toBe(owner);
  expect(await findUploader(id, owner)).toBeUndefined();
});
