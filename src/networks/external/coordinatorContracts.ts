import { encodeFunctionData, parseAbi, size, zeroAddress, type Hex } from "viem";
import type { StackAddresses } from "../../chainlink/stackPlan.ts";
import type { ChainClient } from "../../evm/client.ts";
import { decodeCallResult } from "../../lib/callResult.ts";
import { TycheError } from "../../lib/errors.ts";

/**
 * PUSH32 of a value whose first 12 bytes are zero: how solc embeds an immutable address in code. Matches may overlap, and some may not be
 * code.
 */
const PUSHED_ADDRESS = /(?=7f0{24}([0-9a-f]{40}))/g;
const ROUTER = "Functions Router ";
const typeAbi = parseAbi(["function typeAndVersion() view returns (string)"]);

/**
 * Returns a coordinator's contracts as far as its code reveals them: the router is an immutable that no function returns. All others are the
 * zero address.
 *
 * @throws {CoordinatorError} when there is no FunctionsCoordinator at the address.
 */
export async function readCoordinatorContracts(
  client: Pick<ChainClient, "call" | "getCode">,
  coordinator: Hex,
): Promise<StackAddresses> {
  const router = await findRouter(client, coordinator);
  return {
    functionsCoordinator: coordinator,
    functionsRouter: router,
    link: zeroAddress,
    nativePriceFeed: zeroAddress,
    usdPriceFeed: zeroAddress,
    blockhashStore: zeroAddress,
    vrfCoordinator: zeroAddress,
    batchVrfCoordinator: zeroAddress,
    subscriptionOwner: zeroAddress,
    presetConsumer: zeroAddress,
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
  const call = { abi: typeAbi, functionName: "typeAndVersion" } as const;
  try {
    const data = await client.call({ to: address, data: encodeFunctionData(call) });
    return decodeCallResult({ ...call, data }).startsWith(ROUTER);
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
