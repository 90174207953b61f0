import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import { verifiedContractsOf } from "../../chainlink/contractBook.ts";
import { createDailyBudget } from "../../dapps/dailyBudget.ts";
import { createFinality } from "../../evm/finality.ts";
import { DEFAULT_BLOCK_MS } from "../../evm/pipelining.ts";
import { createChainWatcher } from "../../evm/watcher.ts";
import type { ChainWatcher } from "../../evm/watcher.ts";
import type { ExploredChain } from "../../explorer/explorer.ts";
import { messageOf } from "../../lib/errors.ts";
import { repeat } from "../../lib/repeat.ts";
import type { NetworkChain, NetworkSource } from "../../networks/network.ts";
import type { GatewayNetwork } from "../../oracle/secrets/gateway.ts";
import { createNetworkHealth } from "../../requests/explain/networkHealth.ts";
import type { NetworkReadiness, NetworkView } from "../../api/types.ts";
import type { RequestPipeline } from "../../requests/requestPipeline.ts";
import type { ServiceNetwork } from "../../requests/serviceNetwork.ts";
import { adoptChain } from "../../requests/takeover/adoptChain.ts";
import { openDispatch, type Dispatch } from "../../requests/takeover/dispatch.ts";
import { createTwinWatch, type TwinError, type TwinWatch } from "../../requests/takeover/twinWatch.ts";
import { findChain } from "../../store/chainRecords.ts";
import { findCallbackFailures } from "../../store/failedCallbacks.ts";
import type { VerifiableNetwork } from "../../verify/verifier.ts";
import type { ObservedChain } from "../../triggers/observedChain.ts";
import { describeChain, describeNetwork, keyHashesOf, whyNot, type NetworkState } from "./networkViews.ts";
import type { NodeWatch } from "./nodeWatch.ts";
import { findAnsweredBlock, keepOracleCheckpoint } from "./oracleCheckpoint.ts";
import { describeOracleHealth } from "./oracleHealth.ts";
import type { Companion, OracleSecrets, ServedNetworkOptions } from "./servedNetworkOptions.ts";

/** How long a start waits for what runs beside the service, such as the refill of an empty LINK reserve. */
const PREPARED_WAIT_MS = 3_000;
/** Interval between looks for another process that sends with the operator's account. */
const TWIN_INTERVAL_MS = 5_000;
const FAILED = "its chain can't be served; the operator can read the reason in the service's readiness";
const TWIN = "another process sends with its account; the operator can read more in the service's readiness";
const DATABASE_AWAY = "the service's database is not responding; calls get 503 until it does";

/** A network that the service serves: its chain, its pipeline, and what runs beside them. */
export interface ServedNetwork extends ServiceNetwork {
  start(): Promise<{ readonly rpcUrl?: string; readonly isNew: boolean }>;
  /** The pipeline, available from `start` on, before the network reports that it serves. */
  pipeline(): RequestPipeline | undefined;
  /** Sets what the readiness reports about the dapps' preparation. */
  setPreparation(preparation: Preparation): void;
  /** The chain for the explorer, once it is available. */
  explored(): ExploredChain | undefined;
  /** The chain for verifying results, once it is available. */
  verifiable(): VerifiableNetwork | undefined;
  /** The oracle network for `SecretsManager`, while the network serves and its oracle runs here. */
  gateway(): GatewayNetwork | undefined;
  /** The chain for log triggers, while the network serves. */
  observed(): ObservedChain | undefined;
  /** Average time between blocks, in ms: an assumption until the chain is available. `undefined` on an embedded chain. */
  blockMs(): number | undefined;
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

/** What a start opens, in this order. */
interface Opened {
  chain: NetworkChain;
  watcher: ChainWatcher;
  companion: Companion;
  secrets: OracleSecrets | string;
  nodes: NodeWatch;
  /** Records the oracle's checkpoint a last time. */
  endCheckpoints: () => Promise<void>;
  dispatch: Dispatch;
  stopTwinWatch: () => void;
  health: () => Promise<NetworkReadiness>;
}

/** Wires up one network, whoever runs its chain and its oracle. Service and oracle share the chain and messages about secrets. */
export function createServedNetwork(options: ServedNetworkOptions): ServedNetwork {
  const { source, store, log } = options;
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

  const opened: Partial<Opened> = {};
  let state: NetworkState = { status: "starting" };
  let preparation: Preparation = { isReady: true, warnings: [] };
  /** Descriptions for callers, cached until what they describe changes. */
  let view: NetworkView | undefined;
  let explored: ExploredChain | undefined;
  let closing: Promise<void> | undefined;

  const become = (next: NetworkState): void => {
    state = next;
    view = undefined;
  };
  const isServing = (): boolean => state.status === "serving";
  const explorerUrl = (): string => source.explorerUrl ?? `${options.baseUrl()}/explorer/${name}`;
  const drandChains = [terms.beacon, terms.localBeacon].flatMap((one) => one?.chain ?? []);
  const findRecordedCallbacks = (requestIds: readonly string[]) =>
    findCallbackFailures(store.db, name, requestIds);
  const findOracleReason = (requestId: Hex): string | undefined =>
    opened.companion?.oracleStatus?.().pending.find((one) => one.requestId === requestId)?.why;

  return {
    profile,
    maxResponseBytes: terms.maxResponseBytes,
    beacon: terms.beacon,
    localBeacon: terms.localBeacon,
    get explorerUrl() {
      return explorerUrl();
    },
    view: () =>
      (view ??= describeNetwork({ source, chain: opened.chain, explorerUrl: explorerUrl(), state })),
    intake: () => (isServing() ? opened.dispatch?.intake() : undefined),
    pipeline: () => opened.dispatch?.pipeline(),
    setPreparation: (next) => void (preparation = next),
    verifiable: () =>
      opened.chain && {
        client: opened.chain.client,
        chainId,
        contracts: verifiedContractsOf(opened.chain.deployment.contracts),
        // An embedded chain begins with its contracts.
        deploymentBlock: source.isEmbedded ? undefined : BigInt(opened.chain.deployment.blockNumber),
        // An embedded chain may have had further keys.
        keyHashes: source.isEmbedded ? undefined : keyHashesOf(source),
        maxResponseBytes: terms.maxResponseBytes,
        isEmbedded: source.isEmbedded,
        chainlinkCoordinator: terms.chainlinkCoordinator,
        hasEthereumBlocks: terms.hasEthereumBlocks,
        drandChains,
        findRecordedCallbacks,
      },
    explored: () =>
      (explored ??= opened.chain && {
        ...describeChain(source, opened.chain, findRecordedCallbacks),
        drandChains,
        ...(source.isEmbedded && { findOracleReason }),
      }),
    observed: () =>
      isServing() && opened.chain !== undefined
        ? {
            client: opened.chain.client,
            chainId,
            // With other contracts, a public chain is still the same.
            identity: source.isEmbedded ? opened.chain.identity : String(chainId),
            isEmbedded: source.isEmbedded,
            terms,
            explorerUrl: explorerUrl(),
          }
        : undefined,
    blockMs: () => (source.isEmbedded ? undefined : (opened.chain?.blockMs ?? DEFAULT_BLOCK_MS)),
    faucet: () => (isServing() ? opened.companion?.faucet : undefined),
    secrets() {
      const { secrets } = opened;
      if (secrets === undefined || typeof secrets === "string") return secrets ?? "it is starting";
      const { operator, deployment } = opened.chain!;
      const router = deployment.contracts.functionsRouter;
      return { holder: secrets.holder, operator: operator.address.toLowerCase() as Hex, chainId, router };
    },
    gateway() {
      const { secrets } = opened;
      return isServing() && typeof secrets === "object" ? secrets.gateway : undefined;
    },
    findSpentBudget: (dappId) => budget.findSpent(dappId),
    getCode: (address) => opened.chain!.client.getCode(address),

    async start() {
      const chain = await openChain();
      let twinError: TwinError | undefined;
      const twin = createTwin(chain, (error) => {
        twinError = error;
        if (opened.health === undefined) return;
        log.error(error.message);
        become({ status: "unavailable", why: TWIN, detail: error.message });
        void close().catch(onError);
      });
      const watcher = (opened.watcher = createChainWatcher({
        ...terms,
        client: chain.client,
        onError,
        onGap: () => twin.doubt(),
      }));
      await openBeside(chain);
      const dispatch = (opened.dispatch = await openNetwork(chain, watcher, twin));
      opened.stopTwinWatch = repeat(
        async () => (dispatch.pipeline() === undefined ? undefined : await twin.look()),
        TWIN_INTERVAL_MS,
        onError,
      );
      await Promise.race([opened.companion?.prepared, sleep(PREPARED_WAIT_MS, undefined, { ref: false })]);
      opened.health = openHealth(chain, watcher, dispatch);
      if (twinError !== undefined) throw twinError;
      const { rpcUrl, isNew } = chain;
      return { isNew, ...(rpcUrl === undefined ? {} : { rpcUrl }) };
    },

    serve() {
      if (closing === undefined) become({ status: "serving" });
    },

    fail(error) {
      become({ status: "unavailable", why: FAILED, detail: messageOf(error) });
    },

    async readiness(): Promise<NetworkReadiness> {
      if (!isServing() || opened.health === undefined)
        return { ready: false, why: (state.status === "unavailable" && state.detail) || whyNot(state) };
      if (options.replica?.hasDatabase() === false) return { ready: false, why: DATABASE_AWAY };
      const { warnings = [], ...reading } = await opened.health();
      const dispatcher = opened.dispatch?.dispatcher();
      return {
        ...reading,
        ...(dispatcher && { dispatcher }),
        ...(preparation.isReady ? {} : { ready: false, why: reading.why ?? preparation.warnings.join("; ") }),
        warnings: [...warnings, ...preparation.warnings],
      };
    },

    oracleNodes: async () => (isServing() ? await opened.nodes?.() : undefined),

    close,
  };

  async function openChain(): Promise<NetworkChain> {
    const known = (await findChain(store.db, name)) as Parameters<NetworkSource["open"]>[0];
    const chain = (opened.chain = await source.open(known, {
      onDown: (why) => become({ status: "unavailable", why }),
      onError,
    }));
    view = undefined;
    for (const finding of chain.findings) log.error(finding);
    // With replicas, only the one that dispatches adopts it.
    if (options.replica === undefined)
      await adoptChain({ ...options, network: name, chain, isNew: chain.isNew });
    return chain;
  }

  /** Starts what runs beside the service: the oracle, the watch over nodes of others, the oracle's checkpoint. */
  async function openBeside(chain: NetworkChain): Promise<void> {
    const { client, deployment } = chain;
    const { signal } = stopping;
    const network = { name, client, store };
    const answered = chain.isNew ? undefined : await findAnsweredBlock(network);
    const fromBlock = answered ?? BigInt(deployment.blockNumber);
    const companion = options.accompany?.({ chain, fromBlock, signal, onError });
    const { functionsCoordinator: coordinator } = deployment.contracts;
    const nodes = options.watchNodes?.({ client, coordinator, signal, onError });
    // Starts the first reading early, so that it is ready for the first caller; it never rejects.
    void nodes?.();
    const status = companion?.oracleStatus;
    const secrets = companion?.secrets ?? options.connectSecrets?.(chain);
    Object.assign(opened, {
      ...(companion && { companion }),
      ...(secrets && { secrets }),
      ...(nodes && { nodes }),
      ...(status && {
        endCheckpoints: keepOracleCheckpoint(
          network,
          async () => {
            const { caughtUp, checkpoint: blockNumber } = status();
            // Read after the status: every answer that it counts is in this block or an earlier one.
            const head = caughtUp ? await client.getHead("latest") : undefined;
            return head && { blockNumber, head };
          },
          onError,
        ),
      }),
    });
  }

  function createTwin({ client, deployment, operator }: NetworkChain, onFound: (error: TwinError) => void) {
    return createTwinWatch({
      network: name,
      client,
      store,
      operator: operator.address,
      presetConsumer: deployment.contracts.presetConsumer,
      firstBlock: deployment.blockNumber,
      onFound,
    });
  }

  async function openNetwork(chain: NetworkChain, watcher: ChainWatcher, twin: TwinWatch): Promise<Dispatch> {
    const finality = createFinality({
      client: chain.client,
      depth: terms.finalityDepth,
      hasFinalizedTag: terms.hasFinalizedTag,
      head: () => watcher.head(),
    });
    const status = opened.companion?.oracleStatus;
    const network = {
      source,
      chain,
      watcher,
      finality,
      budget,
      twin,
      oracleWait: status && ((id: string) => status().pending.find(({ requestId }) => requestId === id)?.why),
      oracleNodes: opened.nodes,
      onError,
    };
    return await openDispatch({ ...options, network });
  }

  function openHealth(
    { client, operator, deployment, pause, warnings }: NetworkChain,
    watcher: ChainWatcher,
    dispatch: Dispatch,
  ): Opened["health"] {
    const { book } = options;
    const status = opened.companion?.oracleStatus;
    return createNetworkHealth({
      ...deployment.contracts,
      client,
      watcher,
      operator: operator.address,
      chainPause: pause,
      chainWarnings: warnings,
      subscriptions: {
        list: () => dispatch.intake().subscriptions.list(),
        readBalances: (one) => dispatch.intake().subscriptions.readBalances(one),
      },
      spentBudgets: () => budget.listSpent(),
      lowSubscriptionJuels: terms.allowanceJuels / 10n,
      openRequests: () => book.openCount(name),
      queuedRequests: () => dispatch.intake().queued(),
      damagedRequests: () => book.damaged.count(name),
      ...(status && { oracle: () => describeOracleHealth(status()) }),
    });
  }

  function close(): Promise<void> {
    closing ??= (async () => {
      opened.stopTwinWatch?.();
      await opened.dispatch?.close();
      if (isServing()) become({ status: "unavailable", why: "it is stopping" });
      stopping.abort();
      await opened.endCheckpoints?.();
      opened.companion?.close();
      opened.watcher?.close();
      await opened.chain?.close();
    })();
    return closing;
  }
}
