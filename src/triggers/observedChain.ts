import type { ChainClient } from "../evm/client.ts";
import type { NetworkTerms } from "../networks/network.ts";

/** A network whose logs are read. */
export interface ObservedChain {
  readonly client: ChainClient;
  readonly chainId: number;
  /** Distinguishes this chain from any other, such as an earlier one of the same name. */
  readonly identity: string;
  /** Every block of an embedded chain counts as safe and finalized: only its user removes blocks. */
  readonly isEmbedded: boolean;
  readonly terms: Pick<
    NetworkTerms,
    "finalityDepth" | "hasFinalizedTag" | "pollIntervalMs" | "rolledBackAfterMs" | "rereadIntervalMs"
  >;
  /** Without a trailing slash: `/tx/{hash}` follows. */
  readonly explorerUrl: string;
}
