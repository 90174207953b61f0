import { DeploymentError } from "../../chainlink/deploy.ts";
import type { VrfVersion } from "../../chainlink/vrfVersion.ts";
import type { ChainClient } from "../../evm/client.ts";
import { parseObject } from "../../lib/nodeAnswers.ts";

/** Chains on which VRFCoordinatorV2 asks Arbitrum's precompile for block numbers: ChainSpecificUtil.sol `_isArbitrumChainId`. */
const KNOWN_TO_V2: readonly number[] = [42_161, 421_613, 421_614];

/**
 * Checks that a VRF coordinator of our own would work. On Arbitrum and the chains built on its stack, contracts see the parent
 * chain's block numbers, whose hashes are not this chain's: VRFCoordinatorV2 has a workaround for three of them, VRFCoordinatorV2_5
 * for none.
 *
 * @throws {DeploymentError} on a chain where requests could not be fulfilled.
 */
export async function assertVrfWorks(
  client: Pick<ChainClient, "request">,
  {
    network,
    chainId,
    vrfVersion,
  }: { readonly network: string; readonly chainId: number; readonly vrfVersion: VrfVersion },
): Promise<void> {
  const head = parseObject(await client.request("eth_getBlockByNumber", ["latest", false]), "block");
  if (head["l1BlockNumber"] === undefined) return;
  const isKnown = KNOWN_TO_V2.includes(chainId);
  if (isKnown && vrfVersion === "v2") return;
  throw new DeploymentError(
    network,
    `it is an Arbitrum chain, on which a VRF coordinator of version ${vrfVersion} can't read block hashes; ` +
      (isKnown
        ? 'set "vrf" to "v2", or to Chainlink\'s own coordinator where it serves the chain'
        : 'set "vrf" to Chainlink\'s own coordinator where it serves the chain'),
  );
}
