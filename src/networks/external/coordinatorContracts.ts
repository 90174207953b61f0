import { encodeFunctionData, isAddressEqual, parseAbi, size, zeroAddress, type Hex } from "viem";
import { askContract, readOf } from "../../chainlink/contractRead.ts";
import type { StackAddresses } from "../../chainlink/stackPlan.ts";
import type { ChainClient } from "../../evm/client.ts";
import { decodeCallResult } from "../../lib/callResult.ts";
import { RpcError } from "../../lib/nodeAnswers.ts";
import { TycheError } from "../../lib/errors.ts";

/**
 * PUSH32 of a value whose first 12 bytes are zero: how solc embeds an immutable address in code. Matches may overlap, and some may not be
 * code.
 */
const PUSHED_ADDRESS = /(?=7f0{24}([0-9a-f]{40}))/g;
const ROUTER = "Functions Router ";
const typeAbi = parseAbi(["function typeAndVersion() view returns (string)"]);
const consumerAbi = parseAbi([
  "function FUNCTIONS_ROUTER() view returns (address)",
  "function VRF_COORDINATOR() view returns (address)",
  "function BATCH_VRF_COORDINATOR() view returns (address)",
]);

/**
 * Returns a coordinator's contracts as far as its code reveals them: the router is an immutable that no function returns. With a
 * PresetConsumer, it returns the VRF contracts of that one, too. All others are the zero address.
 *
 * @throws {CoordinatorError} when there is no FunctionsCoordinator at the address, or no PresetConsumer of the same router.
 */
export async function readCoordinatorContracts(
  client: Pick<ChainClient, "call" | "getCode">,
  { coordinator, presetConsumer }: { readonly coordinator: Hex; readonly presetConsumer?: Hex | undefined },
): Promise<StackAddresses> {
  const router = await findRouter(client, coordinator);
  const vrf =
    presetConsumer === undefined
      ? { vrfCoordinator: zeroAddress, batchVrfCoordinator: zeroAddress, presetConsumer: zeroAddress }
      : await readConsumer(client, { presetConsumer, router });
  return {
    functionsCoordinator: coordinator,
    functionsRouter: router,
    link: zeroAddress,
    nativePriceFeed: zeroAddress,
    usdPriceFeed: zeroAddress,
    blockhashStore: zeroAddress,
    subscriptionOwner: zeroAddress,
    ...vrf,
  };
}

/**
 * Checks that a router is its coordinator's. Whoever gives a node its contracts could name a router of their own, which would tell the node
 * that a subscription belongs to somebody else, whose secrets it then opened. A node has no keys for another coordinator.
 *
 * @throws {CoordinatorError}
 */
export async function assertRouter(
  client: Pick<ChainClient, "call" | "getCode">,
  { functionsCoordinator, functionsRouter }: Pick<StackAddresses, "functionsCoordinator" | "functionsRouter">,
): Promise<void> {
  const router = await findRouter(client, functionsCoordinator);
  if (!isAddressEqual(router, functionsRouter))
    throw new CoordinatorError(
      `${functionsRouter} is not the FunctionsRouter of ${functionsCoordinator}, which is ${router}; correct the contracts file`,
    );
}

async function readConsumer(
  client: Pick<ChainClient, "call">,
  { presetConsumer, router }: { readonly presetConsumer: Hex; readonly router: Hex },
) {
  const read = async (functionName: (typeof consumerAbi)[number]["name"]): Promise<Hex> => {
    const call = { abi: consumerAbi, functionName };
    const data = await client
      .call({ to: presetConsumer, data: encodeFunctionData(call) })
      .catch((error: unknown): Hex => {
        if (error instanceof RpcError && error.data !== undefined) return "0x";
        throw error;
      });
    // Another contract reverts, and an address without code answers with nothing.
    return size(data) < 32 ? zeroAddress : decodeCallResult({ ...call, data });
  };
  const consumerRouter = await read("FUNCTIONS_ROUTER");
  if (consumerRouter.toLowerCase() !== router.toLowerCase())
    throw new CoordinatorError(
      `${presetConsumer} is not a PresetConsumer of the FunctionsRouter ${router}; correct the network's presetConsumer`,
    );
  return {
    presetConsumer,
    vrfCoordinator: await read("VRF_COORDINATOR"),
    batchVrfCoordinator: await read("BATCH_VRF_COORDINATOR"),
  };
}

async function findRouter(client: Pick<ChainClient, "call" | "getCode">, coordinator: Hex): Promise<Hex> {
  const code = await client.getCode(coordinator);
  if (size(code) === 0)
    throw new CoordinatorError(`${coordinator} holds no code; correct the network's coordinator or rpcUrls`);
  const pushed = [...code.toLowerCase().matchAll(PUSHED_ADDRESS)].map(([, digits]): Hex => `0x${digits!}`);
  for (const address of new Set(pushed)) if (await isRouter(client, address)) return address;
  throw new CoordinatorError(
    `${coordinator} is not a FunctionsCoordinator: its code names no FunctionsRouter; correct the network's coordinator`,
  );
}

async function isRouter(client: Pick<ChainClient, "call" | "getCode">, address: Hex): Promise<boolean> {
  if (size(await client.getCode(address)) === 0) return false;
  try {
    return (await askContract(client, address, readOf(typeAbi, "typeAndVersion", []))).startsWith(ROUTER);
  } catch {
    return false;
  }
}

/** There is no FunctionsCoordinator at the configured address. */
export class CoordinatorError extends TycheError {
  constructor(message: string) {
    super(message, { code: "chain_unavailable", blame: "caller" });
  }
}
