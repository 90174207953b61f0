import { parseAbi, zeroAddress, type Hex } from "viem";
import { askContract, readOf } from "../../chainlink/contractRead.ts";
import { DeploymentError } from "../../chainlink/deploy.ts";
import type { ExistingContracts } from "../../chainlink/stackPlan.ts";
import { COORDINATOR_READS } from "../../chainlink/vrfCoordinator.ts";
import type { ChainClient } from "../../evm/client.ts";

/** The getters of VRFCoordinatorV2_5 for the contracts it depends on. */
const neighboursAbi = parseAbi([
  "function BLOCKHASH_STORE() view returns (address)",
  "function LINK() view returns (address)",
  "function LINK_NATIVE_FEED() view returns (address)",
]);

/** Where random words are requested from Chainlink's own oracle: VRF v2.5. */
export interface ChainlinkVrf {
  readonly coordinator: Hex;
  /** Key hash of the gas lane. */
  readonly keyHash: Hex;
  readonly minConfirmations: number;
}

/**
 * Reads the contracts that Chainlink's coordinator depends on: the LINK token it accepts, its price feed and its BlockhashStore.
 *
 * @throws {DeploymentError} when there is no such coordinator, or it has no such lane.
 */
export async function readChainlinkVrf(
  client: Pick<ChainClient, "call" | "getCode">,
  { coordinator, keyHash }: ChainlinkVrf,
): Promise<ExistingContracts> {
  if ((await client.getCode(coordinator)) === "0x")
    throw new DeploymentError(
      "VRFCoordinatorV2_5",
      `there is no contract at ${coordinator}, the address of Chainlink's coordinator`,
    );
  const read = (name: "BLOCKHASH_STORE" | "LINK" | "LINK_NATIVE_FEED"): Promise<Hex> =>
    askContract(client, coordinator, readOf(neighboursAbi, name, []));
  const { isRegistered } = await askContract(client, coordinator, COORDINATOR_READS["v2.5"].lane(keyHash));
  if (!isRegistered)
    throw new DeploymentError(
      "VRFCoordinatorV2_5",
      `${coordinator} has no proving key with the key hash ${keyHash}`,
    );
  return {
    link: await read("LINK"),
    nativePriceFeed: await read("LINK_NATIVE_FEED"),
    blockhashStore: await read("BLOCKHASH_STORE"),
    vrfCoordinator: coordinator,
    batchVrfCoordinator: zeroAddress,
  };
}
