import type { OracleNodeView } from "../api/types.ts";
import type { DailyBudget } from "../dapps/dailyBudget.ts";
import type { Hex } from "viem";
import type { Account } from "../evm/account.ts";
import type { ChainClient } from "../evm/client.ts";
import type { Finality } from "../evm/finality.ts";
import type { Fees } from "../evm/fees.ts";
import type { Pipelining } from "../evm/pipelining.ts";
import type { StackAddresses } from "../chainlink/stackPlan.ts";
import type { ChainWatcher } from "../evm/watcher.ts";

/** What the pipeline needs from the network it serves, embedded or not. */
export interface ServedChain {
  /** Name of the network. */
  readonly network: string;
  readonly chainId: number;
  readonly client: ChainClient;
  readonly watcher: ChainWatcher;
  readonly contracts: StackAddresses;
  /** Says in words why nothing more is sent to the chain; returns `undefined` while everything is. */
  readonly pause?: (() => string | undefined) | undefined;
  /** Account that sends all transactions of the service on this network. */
  readonly operator: Account;
  readonly fees: Fees;
  /** Default: one transaction at a time. */
  readonly pipelining?: Pipelining | undefined;
  /** Funding of each of a dapp's two subscriptions, in juels. */
  readonly allowanceJuels: bigint;
  /** Symbol of the coin that pays for gas, for messages. */
  readonly coin: string;
  /** Additional coin for the VRF subscription, in wei; absent if words are paid for in LINK. */
  readonly coinAllowanceWei?: bigint | undefined;
  /** What each dapp's subscriptions may be topped up with a day. */
  readonly budget: DailyBudget;
  /** Key hash of the proving key that presets request words from. */
  readonly keyHash: Hex;
  /** Key hashes of 2 to 4 keys whose words presets join instead. */
  readonly presetKeyHashes?: readonly Hex[] | undefined;
  /** Returns the address of the operator that delivers the words of a key; `undefined` if it isn't known. */
  readonly vrfOperatorOf?: (keyHash: Hex) => Hex | undefined;
  /**
   * Returns what a request (VRF or Functions id) waits for according to the oracle, if the oracle runs here; `undefined` for
   * a request that it doesn't hold.
   */
  readonly oracleWait?: (requestId: Hex) => string | undefined;
  /** Returns the function nodes where several operators run them. Default: the oracle is one operator's. */
  readonly oracleNodes?:
    | (() => Promise<readonly Pick<OracleNodeView, "url" | "answers">[] | undefined>)
    | undefined;
  /** Whether Chainlink's own oracle delivers random words. Default `false`. */
  readonly isChainlinks?: boolean;
  /** Highest gas price at which the VRF node fulfils, in wei; absent if there is no limit. */
  readonly gasLaneWei?: bigint;
  /** Confirmations that presets request. */
  readonly presetConfirmations: number;
  /** Finality of the network: a request that has ended is followed until its end is final. */
  readonly finality: Finality;
}
