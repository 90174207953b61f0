import type { Hex } from "viem";
import type { Account } from "../evm/account.ts";
import type { ChainClient } from "../evm/client.ts";
import type { Finality } from "../evm/finality.ts";
import type { Fees } from "../evm/fees.ts";
import type { Pipelining } from "../evm/pipelining.ts";
import type { StackAddresses } from "../chainlink/stackPlan.ts";
import type { ChainWatcher } from "../evm/watcher.ts";

/** What the pipeline needs of the network it serves, embedded or not. */
export interface ServedChain {
  /** Name of the network. */
  readonly network: string;
  readonly chainId: number;
  readonly client: ChainClient;
  readonly watcher: ChainWatcher;
  readonly contracts: StackAddresses;
  /** Sends every transaction of the service on this network. */
  readonly operator: Account;
  readonly fees: Fees;
  /** Default: one transaction at a time. */
  readonly pipelining?: Pipelining | undefined;
  /** What each of a dapp's two subscriptions is given, in juels. */
  readonly allowanceJuels: bigint;
  /** Coin that the subscription for random words is given besides; absent where words are paid for in LINK. */
  readonly coinAllowanceWei?: bigint | undefined;
  /** The proving key asked for words of presets. */
  readonly keyHash: Hex;
  /** 2 to 4 keys whose words presets join instead. */
  readonly presetKeyHashes?: readonly Hex[] | undefined;
  /** Address that brings the words of a key; `undefined` where it isn't known. */
  readonly vrfOperatorOf?: (keyHash: Hex) => Hex | undefined;
  /** What the oracle, where it runs here, says that a request (VRF or Functions id) waits for; `undefined` if it has none such. */
  readonly oracleWait?: (requestId: Hex) => string | undefined;
  /** Whether Chainlink's own oracle brings random words. Default `false`. */
  readonly isChainlinks?: boolean;
  /** Highest gas price at which the VRF node fulfils; absent where it has no limit. */
  readonly gasLaneWei?: bigint;
  /** Confirmations that presets' requests ask for. */
  readonly presetConfirmations: number;
  /** Up to where nothing is taken back: until then a request that has ended is followed. */
  readonly finality: Finality;
}
