import type { Hex } from "viem";
import type { DailyBudget } from "../dapps/dailyBudget.ts";
import type { Finality } from "../evm/finality.ts";
import type { ChainWatcher } from "../evm/watcher.ts";
import type { NetworkChain, NetworkSource } from "../networks/network.ts";
import type { OracleNodeView } from "../api/types.ts";
import type { AccountWatch } from "./takeover/accountWatch.ts";

/** A network whose chain is open, handed down whole to what sends requests there and follows them. */
export interface PipelineNetwork {
  readonly source: Pick<NetworkSource, "profile" | "terms" | "presetKeyHashes" | "vrfOperators">;
  readonly chain: Pick<
    NetworkChain,
    "client" | "deployment" | "identity" | "operator" | "fees" | "pipelining" | "pause" | "removeBlocks"
  >;
  readonly watcher: ChainWatcher;
  /** A request that has ended is followed until its end is final. */
  readonly finality: Finality;
  /** What each dapp's subscriptions may be topped up with a day. */
  readonly budget: DailyBudget;
  /** Prevents sending once another process sends with the operator's account. Default: none can. */
  readonly accountWatch?: AccountWatch | undefined;
  /**
   * Returns what a request (VRF or Functions id) waits for according to the oracle, if the oracle runs here; `undefined` for
   * a request that it doesn't hold.
   */
  readonly oracleWait?: ((requestId: Hex) => string | undefined) | undefined;
  /** Returns the function nodes where several operators run them. Default: the oracle is one operator's. */
  readonly oracleNodes?:
    | (() => Promise<readonly Pick<OracleNodeView, "url" | "answers">[] | undefined>)
    | undefined;
  readonly onError: (error: unknown) => void;
}
