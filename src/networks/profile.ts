import type { Hex } from "viem";
import type { Vrf25Network } from "./vrf25.ts";

/** What is known of one network, whoever serves it. */
export interface NetworkProfile {
  /** The value of `network` parameters. */
  readonly name: string;
  readonly title: string;
  readonly chainId: number;
  /** Symbol of what gas is paid in. */
  readonly coin: string;
  /** Blocks after which the public network replaces none any more. */
  readonly finalityDepth: number;
  /** What the depth is an estimate of, where it is no fact of the network's or its clients'; absent where it is. */
  readonly finalityEstimate?: string | undefined;
  /** Whether the node's `finalized` block is worth following: it comes sooner than the depth, or is the only word on it. */
  readonly hasFinalizedTag: boolean;
  /** Whether a block's hash is that of an Ethereum header, which checks can compute again. */
  readonly hasEthereumBlocks: boolean;
  readonly gas: GasRules;
  /** Without a slash at the end; `/tx/HASH` and `/address/ADDRESS` follow. Absent where there is none. */
  readonly explorerUrl?: string;
  readonly vrf: {
    /** Chainlink's V2 coordinator on the public network, and the hash of its proving key. */
    readonly coordinator?: Hex;
    readonly keyHash?: Hex;
    /** Highest gas price at which the public oracle fulfils, in gwei. */
    readonly gasLaneGwei?: number;
    /** The public coordinator's range, and that of our own there; an embedded chain accepts from 1, the block that holds the request. */
    readonly minConfirmations: number;
    /**
     * Flat fee for one fulfilment on contracts of our own, in millionths of LINK (`fulfillmentFlatFeeLinkPPMTier1`);
     * of the order of the public coordinator's.
     */
    readonly premiumLinkPpm: number;
  };
  /** Chainlink's live VRF v2.5. */
  readonly vrf25?: Vrf25Network;
  readonly functions: {
    /** Chainlink's router on the public network, sunset in June 2026; absent where there never was one. */
    readonly router?: Hex;
    /** Name of the oracle network; its bytes, padded with zeros to 32, are the contracts' `donId`. */
    readonly donId: string;
  };
  readonly link?: Hex;
  /** Chainlink's price feeds: LINK in the chain's coin (18 decimals), and in US dollars (8). */
  readonly priceFeeds?: { readonly linkNative?: Hex; readonly linkUsd?: Hex };
}

/** What a network's pools and proposers ask of a transaction. */
export interface GasRules {
  /** Lowest tip (EIP-1559 `maxPriorityFeePerGas`) that is taken up. */
  readonly minTipWei: bigint;
  /** By how much the price of a transaction must rise to take the place of another with the same nonce. */
  readonly replacementPercent: number;
}
