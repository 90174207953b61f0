import { DeploymentError } from "../../chainlink/deploy.ts";
import type { VrfVersion } from "../../chainlink/vrfVersion.ts";
import type { ChainClient } from "../../evm/client.ts";
import { parseObject } from "../../lib/nodeAnswers.ts";

/** Chains on which VRFCoordinatorV2 asks Arbitrum's precompile for block numbers: ChainSpecificUtil.sol `_isArbitrumChainId`. */
const KNOWN_TO_V2: readonly number[] = [42_161, 421_613, 421_614];

/**
 * Sees that a VRF coordinator of our own could answer. On Arbitrum and the chains made with it, contracts see the numbers of the
 * parent's blocks, whose hashes are not the chain's: VRFCoordinatorV2 knows a way round on three of them, VRFCoordinatorV2_5 on none.
 *
 * @throws {DeploymentError}
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
    `it is a chain of Arbitrum's kind, on which a VRF coordinator of version ${vrfVersion} finds no block hashes; ` +
      (isKnown
        ? 'set "vrf" to "v2", or to Chainlink\'s own coordinator where it serves the chain'
        : 'set "vrf" to Chainlink\'s own coordinator where it serves the chain'),
  );
}
