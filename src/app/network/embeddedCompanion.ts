import type { Logger } from "pino";
import { encodeFunctionData, type Hex } from "viem";
import { askContract, readOf } from "../../chainlink/contractRead.ts";
import type { SandboxPool } from "../../../sandbox/index.ts";
import { createFaucet, type Faucet } from "../../dapps/faucet.ts";
import { createSender, type Sender } from "../../evm/sender.ts";
import { createChainWatcher, type ChainWatcher } from "../../evm/watcher.ts";
import type { NetworkChain, NetworkSource } from "../../networks/network.ts";
import type { OracleNetworkStatus } from "../../oracle/status.ts";
import type { MinedTransaction } from "../../requests/observe/transactionMetrics.ts";
import type { Store } from "../../store/store.ts";
import type { OracleSecrets } from "./connectSecrets.ts";
import { createNetworkOracle } from "./networkOracle.ts";
import type { NetworkKeys } from "./networkKeys.ts";
import { linkTokenAbi } from "../../chainlink/contracts/abi.ts";
import type { ChainClient } from "../../evm/client.ts";
import { createHoldOff } from "../../lib/holdOff.ts";
import { repeat } from "../../lib/repeat.ts";
import { openVault } from "./openVault.ts";
import { toQuantity } from "../../lib/nodeAnswers.ts";
import { decodeLog } from "../../chainlink/events.ts";

/** What runs beside the service on an embedded network: its oracle, and a reserve of LINK. */
export interface Companion {
  oracleStatus(): OracleNetworkStatus;
  /** What requests should wait for before the network serves. */
  readonly prepared: Promise<unknown>;
  readonly secrets: OracleSecrets;
  readonly faucet: Faucet;
  /** Accepts no further work; idempotent. */
  close(): void;
}

/** Starts what an embedded chain needs beside the service: the oracle, a reserve of LINK, and blocks for confirmations. */
export function startCompanion(options: {
  readonly source: NetworkSource;
  readonly chain: NetworkChain;
  readonly keys: NetworkKeys;
  /** First block that may hold an unanswered request. */
  readonly fromBlock: bigint;
  readonly pool: SandboxPool;
  readonly store: Store;
  /** Hosts that are not public, and that sources may reach anyway. */
  readonly allowHosts: readonly string[];
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly onTransaction: (transaction: MinedTransaction) => void;
  readonly onError: (error: unknown) => void;
}): Companion {
  const { chain, keys, fromBlock, signal, onError } = options;
  const { profile, terms } = options.source;
  const { chainId } = profile;
  const { oracleClient: client = chain.client, fees } = chain;
  const { pollIntervalMs, rolledBackAfterMs } = terms;
  const watcher = createChainWatcher({ client, pollIntervalMs, rolledBackAfterMs, onError });
  signal.addEventListener("abort", () => watcher.close(), { once: true });
  const { contracts } = chain.deployment;
  const minter = createSender({ client, account: keys.deployer, chainId, fees, signal, onError });
  const reserve = keepReserve({
    client,
    minter,
    link: contracts.link,
    holder: contracts.subscriptionOwner,
    onError,
  });
  signal.addEventListener("abort", reserve.stop, { once: true });
  const network = { network: profile.name, chainId, client, contracts };
  const vault = openVault({ ...options, ...network, keys: keys.secretKeys, signers: keys.signers });
  const oracle = createNetworkOracle({
    ...options,
    ...network,
    watcher,
    fees,
    beacon: terms.beacon,
    localBeacon: terms.localBeacon,
    openSecrets: vault.openRequest,
  });
  mineConfirmations({ client, watcher, vrfCoordinator: contracts.vrfCoordinator, fromBlock, onError });
  return {
    oracleStatus: () => oracle.status(),
    prepared: reserve.filled,
    secrets: vault,
    faucet: createFaucet({ minter, link: contracts.link }),
    close: () => oracle.close(),
  };
}

/** The reserve is refilled below this: what 1,000 new dapps are given. */
const LOW_RESERVE_JUELS = 20_000_000n * 10n ** 18n;
/** Amount of a refill: what 5,000 new dapps are given. LinkToken mints a billion LINK in all. */
const REFILL_JUELS = 100_000_000n * 10n ** 18n;
const LOOK_INTERVAL_MS = 5_000;
const MINT_GAS = 200_000n;

/**
 * Keeps an embedded chain's LINK reserve, which funds dapps' subscriptions, from running dry; LINK costs nothing there. Checks at once
 * and then periodically.
 *
 * @param options.minter sends as an account that may mint.
 * @returns a promise to await before the reserve is first used, and a function that stops the checks.
 */
function keepReserve(options: {
  readonly client: ChainClient;
  readonly minter: Sender;
  readonly link: Hex;
  /** Contract that holds the reserve. */
  readonly holder: Hex;
  readonly onError: (error: unknown) => void;
}): { readonly filled: Promise<void>; readonly stop: () => void } {
  const { client, minter, link, holder, onError } = options;
  const holdOff = createHoldOff();

  const fill = async (): Promise<void> => {
    const juels = await askContract(client, link, readOf(linkTokenAbi, "balanceOf", [holder]));
    if (juels >= LOW_RESERVE_JUELS) return;
    await holdOff("mint", async () => {
      const mint = encodeFunctionData({
        abi: linkTokenAbi,
        functionName: "mint",
        args: [holder, REFILL_JUELS],
      });
      const receipt = await minter.send({ to: link, data: mint, gas: MINT_GAS }, undefined);
      if (!receipt.succeeded) throw new Error("minting LINK for the reserve reverted");
    });
  };

  const { promise: filled, resolve } = Promise.withResolvers<void>();
  const stop = repeat(() => fill().finally(resolve), LOOK_INTERVAL_MS, onError, { startsNow: true });
  return { filled, stop };
}

/**
 * Mines the blocks that a request for more than one confirmation waits for: an embedded chain makes a block only when there
 * is a transaction.
 */
function mineConfirmations(options: {
  readonly client: ChainClient;
  readonly watcher: ChainWatcher;
  readonly vrfCoordinator: `0x${string}`;
  readonly fromBlock: bigint;
  readonly onError: (error: unknown) => void;
}): void {
  let wantedUpTo = 0n;
  options.watcher.follow({
    addresses: () => [options.vrfCoordinator],
    fromBlock: options.fromBlock,
    async onBlock(block) {
      for (const log of block.logs) {
        const event = decodeLog(log);
        if (event?.name !== "RandomWordsRequested") continue;
        const last = block.number + BigInt(event.minimumRequestConfirmations) - 1n;
        if (last > wantedUpTo) wantedUpTo = last;
      }
      if (wantedUpTo <= block.number) return;
      const head = (await options.client.getHead("latest"))?.number ?? block.number;
      if (wantedUpTo <= head) return;
      await options.client.request("anvil_mine", [toQuantity(wantedUpTo - head)]);
    },
  });
}
