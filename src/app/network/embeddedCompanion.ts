import type { Logger } from "pino";
import type { SandboxPool } from "../../../sandbox/index.ts";
import { createFaucet } from "../../dapps/faucet.ts";
import { createSender } from "../../evm/sender.ts";
import { createChainWatcher } from "../../evm/watcher.ts";
import { mineConfirmations } from "../../networks/embedded/confirmations.ts";
import type { NetworkSource } from "../../networks/network.ts";
import type { MinedTransaction } from "../../requests/observe/transactionMetrics.ts";
import { createNetworkOracle } from "./networkOracle.ts";
import type { NetworkKeys } from "./networkKeys.ts";
import { keepReserve } from "./reserve.ts";
import type { Companion, CompanionOptions } from "./servedNetworkOptions.ts";

/** Starts what an embedded chain needs beside the service: the oracle, a reserve of LINK, and blocks for confirmations. */
export function accompanyEmbedded(options: {
  readonly source: NetworkSource;
  readonly keys: NetworkKeys;
  readonly pool: SandboxPool;
  readonly log: Logger;
  readonly onTransaction: (transaction: MinedTransaction) => void;
}): (started: CompanionOptions) => Companion {
  const { keys } = options;
  const { profile, terms } = options.source;
  return ({ chain, fromBlock, signal, onError }) => {
    const { oracleClient: client = chain.client, fees } = chain;
    const { pollIntervalMs, rolledBackAfterMs } = terms;
    const watcher = createChainWatcher({ client, pollIntervalMs, rolledBackAfterMs, onError });
    signal.addEventListener("abort", () => watcher.close(), { once: true });
    const { contracts } = chain.deployment;
    const { chainId } = profile;
    const minter = createSender({ client, account: keys.deployer, chainId, fees, signal, onError });
    const reserve = keepReserve({
      client,
      minter,
      link: contracts.link,
      holder: contracts.subscriptionOwner,
      onError,
    });
    signal.addEventListener("abort", reserve.stop, { once: true });
    const oracle = createNetworkOracle({
      network: profile.name,
      chainId,
      client,
      watcher,
      contracts,
      keys,
      fees,
      fromBlock,
      maxResponseBytes: terms.maxResponseBytes,
      pool: options.pool,
      log: options.log,
      signal,
      onTransaction: options.onTransaction,
      onError,
    });
    mineConfirmations({ client, watcher, vrfCoordinator: contracts.vrfCoordinator, fromBlock, onError });
    return {
      oracleStatus: () => oracle.status()[0]!,
      prepared: reserve.filled,
      faucet: createFaucet({ minter, link: contracts.link }),
      close: () => oracle.close(),
    };
  };
}
