import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DeploymentError, deployStack } from "../../src/chainlink/deploy.ts";
import { MAX_VRF_CALLBACK_GAS } from "../../src/chainlink/limits.ts";
import {
  functionsCoordinatorAbi,
  functionsRouterAbi,
  linkTokenAbi,
  presetConsumerAbi,
  vrfCoordinatorAbi,
} from "../../src/chainlink/contracts/abi.ts";
import { loadArtifacts } from "../../src/chainlink/contracts/artifacts.ts";
import { readConfigDigest } from "../support/delivery.ts";
import { TEST_ROLES, startTestStack, type TestStack } from "../support/stack.ts";

const DON_ID = `0x${Buffer.from("fun-test-1").toString("hex").padEnd(64, "0")}` as const;

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack({ chainId: 43113 });
});
afterAll(() => stack.close());

describe("deployStack", () => {
  test("every address holds code", async () => {
    for (const address of Object.values(stack.addresses)) {
      expect((await stack.client.getCode(address)).length).toBeGreaterThan(2);
    }
  });

  test("the subscriptions' owner holds the LINK", async () => {
    const { link, subscriptionOwner } = stack.addresses;
    expect(
      await stack.viem.readContract({
        address: link,
        abi: linkTokenAbi,
        functionName: "balanceOf",
        args: [subscriptionOwner],
      }),
    ).toBe(10n ** 26n);
  });

  test("the VRF coordinator knows the key and the limits", async () => {
    const [minConfirmations, maxGasLimit, keyHashes] = await stack.viem.readContract({
      address: stack.addresses.vrfCoordinator,
      abi: vrfCoordinatorAbi,
      functionName: "getRequestConfig",
    });
    expect([minConfirmations, maxGasLimit, keyHashes.length]).toEqual([1, MAX_VRF_CALLBACK_GAS, 1]);
  });

  test("the router leads to the coordinator, and that to the four nodes", async () => {
    const { functionsRouter, functionsCoordinator, presetConsumer } = stack.addresses;
    expect(
      await stack.viem.readContract({
        address: functionsRouter,
        abi: functionsRouterAbi,
        functionName: "getContractById",
        args: [DON_ID],
      }),
    ).toBe(functionsCoordinator);
    expect(
      await stack.viem.readContract({
        address: functionsCoordinator,
        abi: functionsCoordinatorAbi,
        functionName: "transmitters",
      }),
    ).toEqual(TEST_ROLES.transmitters.map(({ address }) => address));
    expect(
      await stack.viem.readContract({
        address: presetConsumer,
        abi: loadArtifacts().PresetConsumer.abi,
        functionName: "DON_ID",
      }),
    ).toBe(DON_ID);
  });

  test("PresetConsumer has adopted the coordinator's nodes", async () => {
    const [configDigest, faulty, signers] = await stack.viem.readContract({
      address: stack.addresses.presetConsumer,
      abi: presetConsumerAbi,
      functionName: "adoptedNodes",
    });
    expect(configDigest).toBe(await readConfigDigest(stack));
    expect([faulty, signers]).toEqual([1, TEST_ROLES.signers.map(({ address }) => address)]);
  });

  test("a second deployment stands beside the first, sent at once where blocks come by the clock", async () => {
    await stack.client.request("evm_setIntervalMining", [1]);
    const second = await deploy({ synchronous: false });
    await stack.client.request("evm_setAutomine", [true]);
    expect(second.link).not.toBe(stack.addresses.link);
    expect(
      await stack.viem.readContract({
        address: second.presetConsumer,
        abi: presetConsumerAbi,
        functionName: "sourceIdOf",
        args: [DON_ID],
      }),
    ).toBe(0);
  });

  test("a step that reverts is named", async () => {
    const [first] = TEST_ROLES.signers;
    const deployment = deploy({ signers: Array.from({ length: 4 }, () => first!.address) });
    await expect(deployment).rejects.toBeInstanceOf(DeploymentError);
    await expect(deployment).rejects.toMatchObject({
      code: "deployment_failed",
      details: { step: "FunctionsCoordinator.setConfig" },
    });
  });
});

function deploy({
  signers = TEST_ROLES.signers.map(({ address }) => address),
  synchronous = true,
}: { readonly signers?: readonly `0x${string}`[]; readonly synchronous?: boolean } = {}) {
  return deployStack({
    client: stack.client,
    chainId: stack.chainId,
    deployer: TEST_ROLES.deployer,
    gasPriceWei: stack.gasPriceWei,
    synchronous,
    donName: "fun-test-1",
    minConfirmations: 3,
    premiumLinkPpm: 500,
    roles: {
      operator: TEST_ROLES.operator.address,
      vrf: [{ oracle: TEST_ROLES.vrfOracle.address, publicKey: [1n, 2n] }],
      functions: {
        signers,
        transmitters: TEST_ROLES.transmitters.map(({ address }) => address),
        donPublicKey: "0x01",
        thresholdPublicKey: "0x02",
      },
    },
  });
}
