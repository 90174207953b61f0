import type { Hex } from "viem";
import { readOf, type ContractRead } from "./contractRead.ts";
import { vrfCoordinatorAbi, vrfCoordinatorV2PlusAbi, fixedPriceFeedAbi } from "./contracts/abi.ts";
import type { VrfVersion } from "../domain/vocabulary.ts";
import type { WordsFees } from "./wordsCost.ts";

/** A subscription as its coordinator stores it. */
export interface VrfSubscription {
  readonly balanceJuels: bigint;
  /** Coin for requests that pay natively; 0 in V2. */
  readonly balanceWei: bigint;
  /** Checksummed. */
  readonly consumers: readonly Hex[];
}

/** What a coordinator knows about one proving key. */
export interface VrfLane {
  readonly isRegistered: boolean;
  /** Highest gas price at which the key's proofs are accepted; `undefined` if there is no limit. */
  readonly maxGasWei: bigint | undefined;
  /** Key hashes of all registered keys, if the coordinator lists them. */
  readonly registered?: readonly Hex[];
}

/** The reads of a coordinator, the same for every version. */
export interface CoordinatorReads {
  /** Hash of the request's commitment; zero if it was fulfilled, or never made. */
  commitment(requestId: Hex): ContractRead<bigint>;
  /** Reverts with InvalidSubscription if it doesn't exist. */
  subscription(subId: bigint): ContractRead<VrfSubscription>;
  lane(keyHash: Hex): ContractRead<VrfLane>;
  /** Price feed of LINK in the chain's coin. */
  linkFeed(): ContractRead<Hex>;
  fees(): ContractRead<WordsFees>;
}

/** The read of a price feed of LINK in the chain's coin: wei for one LINK. */
export const LINK_PRICE = readOf(fixedPriceFeedAbi, "latestRoundData", [], ([, weiPerLink]) => weiPerLink);

/** The reads of each version's coordinator. */
export const COORDINATOR_READS: Readonly<Record<VrfVersion, CoordinatorReads>> = {
  v2: {
    commitment: (requestId) => readOf(vrfCoordinatorAbi, "getCommitment", [BigInt(requestId)], BigInt),
    subscription: (subId) =>
      readOf(vrfCoordinatorAbi, "getSubscription", [subId], ([balanceJuels, , , consumers]) => ({
        balanceJuels,
        balanceWei: 0n,
        consumers,
      })),
    lane: (keyHash) =>
      readOf(vrfCoordinatorAbi, "getRequestConfig", [], ([, , registered]) => ({
        isRegistered: registered.includes(keyHash),
        maxGasWei: undefined,
        registered,
      })),
    linkFeed: () => readOf(vrfCoordinatorAbi, "LINK_ETH_FEED", []),
    fees: () =>
      readOf(vrfCoordinatorAbi, "getFeeConfig", [], ([flatFeeLinkPpm]) => ({
        link: { percent: 0n, flatJuels: millionths(flatFeeLinkPpm), flatWei: 0n },
        native: { percent: 0n, flatJuels: 0n, flatWei: 0n },
      })),
  },
  "v2.5": {
    commitment: (requestId) =>
      readOf(vrfCoordinatorV2PlusAbi, "s_requestCommitments", [BigInt(requestId)], BigInt),
    subscription: (subId) =>
      readOf(
        vrfCoordinatorV2PlusAbi,
        "getSubscription",
        [subId],
        ([balanceJuels, balanceWei, , , consumers]) => ({
          balanceJuels,
          balanceWei,
          consumers,
        }),
      ),
    lane: (keyHash) =>
      readOf(vrfCoordinatorV2PlusAbi, "s_provingKeys", [keyHash], ([isRegistered, maxGasWei]) => ({
        isRegistered,
        maxGasWei,
      })),
    linkFeed: () => readOf(vrfCoordinatorV2PlusAbi, "LINK_NATIVE_FEED", []),
    fees: () =>
      readOf(
        vrfCoordinatorV2PlusAbi,
        "s_config",
        [],
        ([, , , , , flatPpm, linkDiscountPpm, native, link]) => ({
          link: { percent: BigInt(link), flatJuels: 0n, flatWei: millionths(flatPpm - linkDiscountPpm) },
          native: { percent: BigInt(native), flatJuels: 0n, flatWei: millionths(flatPpm) },
        }),
      ),
  },
};

/** Converts millionths of a LINK or a coin to its smallest unit. */
function millionths(ppm: number): bigint {
  return BigInt(ppm) * 10n ** 12n;
}
