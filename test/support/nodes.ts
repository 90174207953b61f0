import { toHex, type Hex } from "viem";
import type { Receipt } from "../../src/lib/nodeAnswers.ts";
import {
  encodeAdoptNodes,
  encodeSetConfig,
  nodeConfigOf,
  type NodeConfig,
} from "../../src/chainlink/nodeConfig.ts";
import { functionsCoordinatorAbi } from "../../src/chainlink/contracts/abi.ts";
import { testAccount } from "./anvil.ts";
import { TEST_ROLES, type TestStack } from "./stack.ts";

/** Returns the configuration of the nodes with these signing keys. */
export function nodeConfig(nodes: readonly { readonly address: Hex }[], offchainConfig?: Hex): NodeConfig {
  return nodeConfigOf({
    signers: nodes.map(({ address }) => address),
    // OCR2Base refuses an address that is both.
    transmitters: nodes.map((_, i) => toHex(0x2000 + i, { size: 20 })),
    offchainConfig,
  });
}

/** Configures the Functions coordinator with other nodes, which PresetConsumer has yet to adopt. */
export async function configureNodes(stack: TestStack, config: NodeConfig): Promise<Receipt> {
  return await stack.send(TEST_ROLES.deployer, {
    to: stack.addresses.functionsCoordinator,
    data: encodeSetConfig(config),
  });
}

/** Encodes the adoption of a configuration, by default as the coordinator's newest. */
export async function encodeAdoption(stack: TestStack, config: NodeConfig, count?: bigint): Promise<Hex> {
  const coordinator = stack.addresses.functionsCoordinator;
  const [newest] = await stack.viem.readContract({
    address: coordinator,
    abi: functionsCoordinatorAbi,
    functionName: "latestConfigDetails",
  });
  return encodeAdoptNodes(config, { chainId: stack.chainId, coordinator, count: count ?? BigInt(newest) });
}

/** Has PresetConsumer adopt the coordinator's nodes, sent by a stranger. */
export async function adoptNodes(
  stack: TestStack,
  config: NodeConfig,
  options: { readonly gas?: bigint } = {},
): Promise<Receipt> {
  return await stack.send(testAccount(9), {
    ...options,
    to: stack.addresses.presetConsumer,
    data: await encodeAdoption(stack, config),
  });
}
