import type { NetworkReadiness, NetworkView } from "../../api/types.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { createChainWatcher } from "../../evm/watcher.ts";
import type { ChainWatcher } from "../../evm/watcher.ts";
import type { NetworkChain, NetworkSource } from "../../networks/network.ts";
import { createDailyBudget } from "../../dapps/dailyBudget.ts";
import { describeChain, describeNetwork } from "./networkViews.ts";
import { withDeadline } from "../../lib/deadline.ts";
import { messageOf } from "../../lib/errors.ts";
import { repeat } from "../../lib/repeat.ts";
import { adoptChain } from "./adoptChain.ts";
import { openDispatch } from "./openDispatch.ts";
import { openSharedDispatch } from "./sharedDispatch.ts";
import type { SharedDispatch } from "./sharedDispatch.ts";
import type { Companion, ServedNetworkOptions } from "./servedNetworkOptions.ts";
import type { NodeWatch } from "./nodeWatch.ts";
import { describeOracleHealth } from "./oracleHealth.ts";
import type { ServiceNetwork } from "../../requests/serviceNetwork.ts";
import type { ExploredChain } from "../../explorer/explorer.ts";
import type { RequestIntake } from "../../requests/requestIntake.ts";
import type { RequestPipeline } from "../../requests/requestPipeline.ts";
import { createTwinWatch, type TwinError, type TwinWatch } from "../../requests/takeover/twinWatch.ts";
import { createNetworkHealth } from "../../requests/explain/networkHealth.ts";
import { findChain, findOracleCheckpoint, saveOracleCheckpoint } from "../../store/chainRecords.ts";
import { findCallbackFailures } from "../../store/failedCallbacks.ts";
import { verifiedContractsOf } from "../../chainlink/contractBook.ts";
import type { VerifiableNetwork } from "../../verify/verifier.ts";

/** How long a start waits for what runs beside the service, such as the refill of an empty LINK reserve. */
const PREPARED_WAIT_MS = 3_000;
const STARTING = "it is starting";
const FAILED = "its chain can't be served; the operator can read the reason in the service's readiness";
const TWIN = "another process sends with its account; the operator can read more in the service's readiness";
const DATABASE_AWAY = "the service's database is not responding; calls get 503 until it does";
/** Interval between saved oracle checkpoints; a start rereads everything after the last one. */
const CHECKPOINT_INTERVAL_MS = 5_000;
/** How long saving the last one may take: without it the next start reads a few more blocks. */
const LAST_CHECKPOINT_MS = 2_000;

/** A network that the service serves: its chain, its pipeline, and what runs beside them. */
export interface ServedNetwork extends ServiceNetwork {
  start(): Promise<{ readonly rpcUrl?: string; readonly isNew: boolean }>;
  /** The pipeline, available from `start` on, before the network reports that it serves. */
  openedPipeline(): RequestPipeline | undefined;
  /** Sets what the readiness reports about the dapps' preparation. */
  setPreparation(preparation: Preparation): void;
  /** The chain for the explorer, once it is available. */
  explored(): ExploredChain | undefined;
  /** The chain for verifying results, once it is available. */
  verifiable(): VerifiableNetwork | undefined;
  /** Makes the network accept requests from here on. */
  serve(): void;
  /** Makes the network refuse requests from here on; the readiness reports the reason. */
  fail(error: unknown): void;
  /** Idempotent. Must not be called while `start` runs. */
  close(): Promise<void>;
}

/** What the readiness reports about the dapps' preparation. */
export interface Preparation {
  /** Whether at least one dapp can be served. */
  readonly isReady: boolean;
  readonly warnings: readonly string[];
}

/** Wires up one network, whoever runs its chain and its oracle. Service and oracle share nothing but the chain. */
export function createServedNetwork(options: ServedNetworkOptions): ServedNetwork {
  const { source, store, book, log } = options;
  const { profile, terms } = source;
  const { name, chainId } = profile;
  const budget = createDailyBudget({
    network: name,
    db: store.db,
    limits: terms.dailyBudget ?? {},
    coin: profile.coin,
  });
  const stopping = new AbortController();
  const onError = (error: unknown): void => {
    if (!stopping.signal.aborted) log.warn({ err: error }, "following the chain failed; retrying");
  };

  let chain: NetworkChain | undefined;
  let watcher: ChainWatcher | undefined;
  let companion: Companion | undefined;
  let pipeline: RequestPipeline | undefined;
  /** Used instead of `pipeline` where there are replicas. */
  let shared: SharedDispatch | undefined;
  let stopCheckpoints: (() => void) | undefined;
  let serving = false;
  let isStarted = false;
  let startError: TwinError | undefined;
  let trouble = STARTING;
  /** Additional detail for the operator, with paths that callers must not see. */
  let reason: string | undefined;
  let preparation: Preparation = { isReady: true, warnings: [] };
  let closing: Promise<void> | undefined;
  let view: NetworkView | undefined;
  let explored: ExploredChain | undefined;
  let nodes: NodeWatch | undefined;
  let twin: TwinWatch | undefined;
  let health: (() => Promise<NetworkReadiness>) | undefined;

  const describe = (): NetworkView =>
    describeNetwork({
      source,
      chain,
      explorerUrl: explorerUrl(),
      trouble: serving ? undefined : trouble,
      isStarting: trouble === STARTING,
    });
  const intake = (): RequestIntake | undefined => shared?.intake() ?? pipeline;
  const explorerUrl = (): string => source.explorerUrl ?? `${options.baseUrl()}/explorer/${name}`;
  const change = (next: { serving: boolean; trouble: string }): void => {
    ({ serving, trouble } = next);
    view = undefined;
  };

  /**
   * Records up to which block the oracle has answered everything, so that the next start need not read the whole
   * chain.
   */
  const keepCheckpoint = async (): Promise<void> => {
    const isDispatching = shared === undefined ? pipeline !== undefined : shared.pipeline() !== undefined;
    if (isDispatching) await twin?.look();
    const status = companion?.oracleStatus?.();
    // Read after the status: every answer that it counts is in this block or an earlier one.
    const head = status?.caughtUp ? await chain?.client.getHead("latest") : undefined;
    if (status === undefined || head === undefined) return;
    await saveOracleCheckpoint(store.db, name, { blockNumber: status.checkpoint, head });
  };

  /** Returns the first block that may hold a request that the oracle has not answered. */
  const findFirstBlock = async ({ client, deployment, isNew }: NetworkChain): Promise<bigint> => {
    const noted = isNew ? undefined : await findOracleCheckpoint(store.db, name);
    // A power cut may have lost blocks with answers; the requests they answered are then pending again.
    const isKept = noted !== undefined && (await client.getHead(noted.head.number))?.hash === noted.head.hash;
    return isKept ? noted.blockNumber : BigInt(deployment.blockNumber);
  };

  const findRecordedCallbacks = (requestIds: readonly string[]) =>
    findCallbackFailures(store.db, name, requestIds);

  return {
    profile,
    maxResponseBytes: terms.maxResponseBytes,
    get explorerUrl() {
      return explorerUrl();
    },
    view: () => (view ??= describe()),
    pipeline: () => (serving ? intake() : undefined),
    openedPipeline: () => (shared === undefined ? pipeline : shared.pipeline()),
    setPreparation: (next) => void (preparation = next),
    verifiable: () =>
      chain && {
        client: chain.client,
        chainId,
        contracts: verifiedContractsOf(chain.deployment.contracts),
        maxResponseBytes: terms.maxResponseBytes,
        isEmbedded: source.isEmbedded,
        chainlinkCoordinator: terms.chainlinkCoordinator,
        hasEthereumBlocks: terms.hasEthereumBlocks,
        findRecordedCallbacks,
      },
    explored: () => (explored ??= chain && describeChain(source, chain, findRecordedCallbacks)),
    faucet: () => (serving ? companion?.faucet : undefined),
    findSpentBudget: (dappId) => budget.findSpent(dappId),
    getCode: (address) => chain!.client.getCode(address),

    async start() {
      const known = (await findChain(store.db, name)) as Parameters<NetworkSource["open"]>[0];
      chain = await source.open(known, {
        onDown: (why) => change({ serving: false, trouble: why }),
        onError,
      });
      const { client, deployment, operator } = chain;
      for (const finding of chain.findings) log.error(finding);
      const { replica, acceptsChain } = options;
      if (replica === undefined)
        await adoptChain({ network: name, chain, isNew: chain.isNew, store, book, acceptsChain });
      const { contracts } = deployment;
      const fromBlock = await findFirstBlock(chain);
      watcher = createChainWatcher({
        client,
        pollIntervalMs: terms.pollIntervalMs,
        rolledBackAfterMs: terms.rolledBackAfterMs,
        rereadIntervalMs: terms.rereadIntervalMs,
        onError,
      });
      const { signal } = stopping;
      companion = options.accompany?.({ chain, fromBlock, signal, onError });
      nodes = options.watchNodes?.({ client, coordinator: contracts.functionsCoordinator, signal, onError });
      // Starts the first reading early, so that it is ready for the first caller; it never rejects.
      void nodes?.();
      const status = companion?.oracleStatus;
      stopCheckpoints = repeat(keepCheckpoint, CHECKPOINT_INTERVAL_MS, onError);
      twin = createTwinWatch({
        network: name,
        client,
        store,
        operator: operator.address,
        presetConsumer: contracts.presetConsumer,
        firstBlock: deployment.blockNumber,
        onFound(error) {
          reason = error.message;
          startError = error;
          if (!isStarted) return;
          log.error(error.message);
          change({ serving: false, trouble: TWIN });
          void close().catch(onError);
        },
      });
      const opening = { ...options, chain, watcher, budget, twin, oracleNodes: nodes, onError };
      if (replica === undefined) pipeline = await openDispatch({ ...opening, status });
      else shared = await openSharedDispatch({ ...opening, replica });
      await Promise.race([companion?.prepared, sleep(PREPARED_WAIT_MS, undefined, { ref: false })]);
      const opened = (): RequestIntake => intake()!;
      health = createNetworkHealth({
        client,
        watcher,
        operator: operator.address,
        link: contracts.link,
        subscriptionOwner: contracts.subscriptionOwner,
        functionsRouter: contracts.functionsRouter,
        chainPause: chain.pause,
        chainWarnings: chain.warnings,
        subscriptions: {
          list: () => opened().subscriptions.list(),
          readBalances: (one) => opened().subscriptions.readBalances(one),
        },
        spentBudgets: () => budget.listSpent(),
        lowSubscriptionJuels: terms.allowanceJuels / 10n,
        openRequests: () => book.openCount(name),
        queuedRequests: () => opened().queued(),
        damagedRequests: () => book.damaged.count(name),
        ...(status && { oracle: () => describeOracleHealth(status()) }),
      });
      isStarted = true;
      if (startError !== undefined) throw startError;
      const { rpcUrl, isNew } = chain;
      return { isNew, ...(rpcUrl === undefined ? {} : { rpcUrl }) };
    },

    serve() {
      if (closing === undefined) change({ serving: true, trouble: "" });
    },

    fail(error) {
      reason = messageOf(error);
      change({ serving: false, trouble: FAILED });
    },

    async readiness(): Promise<NetworkReadiness> {
      if (!serving || health === undefined) return { ready: false, why: reason ?? trouble };
      if (options.replica?.hasDatabase() === false) return { ready: false, why: DATABASE_AWAY };
      const { warnings = [], ...reading } = await health();
      return {
        ...reading,
        ...(shared === undefined ? {} : { dispatcher: shared.dispatcher() }),
        ...(preparation.isReady ? {} : { ready: false, why: reading.why ?? preparation.warnings.join("; ") }),
        warnings: [...warnings, ...preparation.warnings],
      };
    },

    oracleNodes: async () => (serving ? await nodes?.() : undefined),

    close,
  };

  function close(): Promise<void> {
    closing ??= (async () => {
      await Promise.all([pipeline?.close(), shared?.close()]);
      if (serving) change({ serving: false, trouble: "it is stopping" });
      stopping.abort();
      stopCheckpoints?.();
      await withDeadline(keepCheckpoint(), LAST_CHECKPOINT_MS).catch(onError);
      companion?.close();
      watcher?.close();
      await chain?.close();
    })();
    return closing;
  }
}
