import type { DailyBudget } from "../../dapps/dailyBudget.ts";
import { createFinality } from "../../evm/finality.ts";
import type { ChainWatcher } from "../../evm/watcher.ts";
import type { NetworkChain } from "../../networks/network.ts";
import type { OracleNetworkStatus } from "../../oracle/status.ts";
import { fenceStore } from "../../requests/takeover/fenced.ts";
import { openRequestPipeline } from "../../requests/requestPipeline.ts";
import type { RequestPipeline } from "../../requests/requestPipeline.ts";
import { createRetention } from "../../requests/keep/retention.ts";
import type { TwinWatch } from "../../requests/takeover/twinWatch.ts";
import type { ServedChain } from "../../requests/servedChain.ts";
import type { Fence } from "../../store/leases.ts";
import type { ServedNetworkOptions } from "./servedNetworkOptions.ts";

/**
 * Opens the pipeline of a network whose chain is open, and starts deleting records whose retention time is over.
 */
export async function openDispatch(
  options: Pick<ServedNetworkOptions, "source" | "store" | "book" | "keep" | "onTransaction"> & {
    readonly chain: NetworkChain;
    readonly watcher: ChainWatcher;
    readonly budget: DailyBudget;
    /** The oracle's state, if it runs in this process. */
    readonly status: (() => OracleNetworkStatus) | undefined;
    /** The oracle's nodes, where several operators run them. */
    readonly oracleNodes: ServedChain["oracleNodes"];
    readonly fence?: Fence;
    readonly twin: TwinWatch;
    readonly onError: (error: unknown) => void;
  },
): Promise<RequestPipeline> {
  const { source, store, book, chain, watcher, budget, status, fence, twin, onError } = options;
  const { profile, terms } = source;
  const { name, chainId } = profile;
  const { client, deployment, operator, fees, pipelining } = chain;
  const finality = createFinality({
    client,
    depth: terms.finalityDepth,
    hasFinalizedTag: terms.hasFinalizedTag,
    head: () => watcher.head(),
  });
  const pipeline = await openRequestPipeline({
    chain: {
      network: name,
      chainId,
      client,
      pause: chain.pause,
      watcher,
      contracts: deployment.contracts,
      operator,
      fees,
      pipelining,
      allowanceJuels: terms.allowanceJuels,
      coin: source.profile.coin,
      coinAllowanceWei: terms.coinAllowanceWei,
      budget,
      isChainlinks: terms.chainlinkCoordinator !== undefined,
      keyHash: deployment.keyHash,
      presetKeyHashes: source.presetKeyHashes,
      vrfOperatorOf: (keyHash) => source.vrfOperators?.find((one) => one.keyHash === keyHash)?.address,
      ...(status && {
        oracleWait: (id) => status().pending.find(({ requestId }) => requestId === id)?.why,
      }),
      oracleNodes: options.oracleNodes,
      presetConfirmations: terms.minConfirmations,
      finality,
    },
    store,
    book,
    fence,
    twin,
    onError,
    onReceipt: (receipt, { kind, entries }) =>
      options.onTransaction({ network: name, purpose: kind, requests: entries.flat().length, receipt }),
  });
  const { finalNumber } = finality;
  const { address } = operator;
  const retention = createRetention({
    network: name,
    store: fenceStore(store, fence),
    operator: address,
    keep: options.keep,
    finalNumber,
    ...(chain.removeBlocks && { removeBlocks: chain.removeBlocks }),
  });
  retention.start(onError);
  return {
    ...pipeline,
    async close(end) {
      await retention.stop();
      await pipeline.close(end);
    },
  };
}
