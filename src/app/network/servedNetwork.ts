import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import type { SandboxPool } from "../../../sandbox/index.ts";
import type { NetworkReadiness, NetworkView } from "../../api/types.ts";
import { createDailyBudget, type DailyBudget } from "../../dapps/dailyBudget.ts";
import { createFinality } from "../../evm/finality.ts";
import { DEFAULT_BLOCK_MS } from "../../evm/pipelining.ts";
import { createChainWatcher, type ChainWatcher } from "../../evm/watcher.ts";
import { messageOf } from "../../lib/errors.ts";
import { createTroubleLog } from "./troubleLog.ts";
import { repeat } from "../../lib/repeat.ts";
import type { ContractsFile } from "../../networks/external/contractsFile.ts";
import type { ChainEvents, NetworkChain, NetworkSource } from "../../networks/network.ts";
import type { GatewayNetwork } from "../../oracle/secrets/gateway.ts";
import { createNetworkHealth } from "../../requests/explain/networkHealth.ts";
import type { PipelineNetwork } from "../../requests/pipelineNetwork.ts";
import type { RequestPipeline } from "../../requests/requestPipeline.ts";
import type { ServiceNetwork } from "../../requests/serviceNetwork.ts";
import { adoptChain } from "../../requests/takeover/adoptChain.ts";
import {
  openLeaseHolder,
  type LeaseHolder,
  type LeaseHolderOptions,
} from "../../requests/takeover/leaseHolder.ts";
import {
  createAccountWatch,
  type AccountInUseError,
  type AccountWatch,
} from "../../requests/takeover/accountWatch.ts";
import { findChain, findLinkingTransaction } from "../../store/chainRecords.ts";
import { findCallbackFailures } from "../../store/failedCallbacks.ts";
import type { ObservedChain } from "../../triggers/observedChain.ts";
import type { VerifiableNetwork } from "../../verify/verifier.ts";
import { connectSecrets, type OracleSecrets } from "./connectSecrets.ts";
import { startCompanion, type Companion } from "./embeddedCompanion.ts";
import type { NetworkKeys } from "./networkKeys.ts";
import {
  describeChain,
  describeNetwork,
  describeObserved,
  describeVerifiable,
  whyNot,
  type NetworkState,
} from "./networkViews.ts";
import { watchNodes, type NodeWatch } from "./nodeWatch.ts";
import { findAnsweredBlock, keepOracleCheckpoint } from "./oracleCheckpoint.ts";
import { describeOracleHealth } from "./networkOracle.ts";
import type { ExploredChain } from "../../explorer/exploredChain.ts";

/** How long a start waits for what runs beside the service, such as the refill of an empty LINK reserve. */
const PREPARED_WAIT_MS = 3_000;
/** Interval between looks for another process that sends with the operator's account. */
const ACCOUNT_WATCH_MS = 5_000;
const FAILED = "its chain can't be served; the operator can read the reason in the service's readiness";
const TRIED_AGAIN =
  "its chain can't be reached, and is tried again; the operator can read the reason in the service's readiness";
const ACCOUNT_IN_USE =
  "another process sends with its account; the operator can read more in the service's readiness";
const DATABASE_AWAY = "the service's database is not responding; calls get 503 until it does";

/** Who runs a network's oracle: this process, with the network's keys, or others, whose contracts are published. */
export type OracleOperator =
  | { readonly embedded: NetworkKeys }
  | { readonly external: ContractsFile; readonly oracleUrl: string | undefined };

export interface ServedNetworkOptions extends Omit<LeaseHolderOptions, "network"> {
  readonly source: NetworkSource;
  readonly oracle: OracleOperator;
  /** Runs sources for the oracle, if it is in this process. */
  readonly pool: SandboxPool;
  /** Hosts that are not public, and that sources may reach anyway. */
  readonly allowHosts: readonly string[];
  /** The service's own base URL; known once it listens. */
  readonly baseUrl: () => string;
}

/** A network that the service serves: its chain, its pipeline, and what runs beside them. */
export interface ServedNetwork extends ServiceNetwork {
  /** May be called again after it has failed: what it had opened is closed by then. */
  start(): Promise<{
    readonly rpcUrl?: string;
    readonly isNew: boolean;
    /** The port that the RPC URL was to have, and couldn't. */
    readonly takenPort?: number;
    /** Problems found with the chain, and what became of them: one sentence each. */
    readonly findings: readonly string[];
  }>;
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
  /** Makes the network refuse requests from here on; the readiness reports the reason, and whether the start is tried again. */
  fail(error: unknown, options?: { readonly isTriedAgain: boolean }): void;
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
  oracle: OpenOracle;
  dispatch: LeaseHolder;
  stopAccountWatch: () => void;
  health: () => Promise<NetworkReadiness>;
  /** The chain as the explorer sees it; created when it is first asked for. */
  explored: ExploredChain | undefined;
}

/** A network's oracle: the whole of it if it runs here, otherwise what its own processes show. */
interface OpenOracle extends Partial<Omit<Companion, "secrets">> {
  /** Where it holds secrets, or why it holds none. */
  readonly secrets: OracleSecrets | string;
  /** The state of its nodes, if others run them. */
  readonly nodes?: NodeWatch;
  /** Returns what a request waits for, according to an oracle that runs here. */
  readonly findReason?: (requestId: Hex) => string | undefined;
  /** Records the checkpoint of an oracle that runs here a last time. */
  readonly endCheckpoints?: () => Promise<void>;
}

/** What the parts of a network share. */
interface ServedNetworkScope extends ServedNetworkOptions {
  readonly budget: DailyBudget;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

/** Wires up one network, whoever runs its chain and its oracle. Service and oracle share the chain and messages about secrets. */
export function createServedNetwork(options: ServedNetworkOptions): ServedNetwork {
  const { source, store, log } = options;
  const { profile, terms } = source;
  const { name, coin } = profile;
  const limits = terms.dailyBudget ?? {};
  const budget = createDailyBudget({ network: name, db: store.db, limits, coin });
  const logTrouble = createTroubleLog(log, "following the chain failed; retrying");
  let stopping = new AbortController();
  const opened: Partial<Opened> = {};
  let state: NetworkState = { status: "starting" };
  let preparation: Preparation = { isReady: true, warnings: [] };
  /** Description for callers, cached until what it describes changes. */
  let view: NetworkView | undefined;
  let closing: Promise<void> | undefined;

  const become = (next: NetworkState): void => {
    state = next;
    view = undefined;
  };
  const isServing = (): boolean => state.status === "serving";
  const explorerUrl = (): string => source.explorerUrl ?? `${options.baseUrl()}/explorer/${name}`;

  const closeParts = async (): Promise<void> => {
    opened.stopAccountWatch?.();
    await opened.dispatch?.close();
    if (isServing()) become({ status: "unavailable", why: "it is stopping" });
    stopping.abort();
    await opened.oracle?.endCheckpoints?.();
    opened.oracle?.close?.();
    opened.watcher?.close();
    await opened.chain?.close();
  };
  const close = (): Promise<void> => (closing ??= closeParts());
  const forgetParts = (): void => {
    for (const part of Object.keys(opened) as (keyof Opened)[]) delete opened[part];
    view = undefined;
  };

  return {
    ...showParts(options, opened, { isServing, explorerUrl }),
    profile,
    beacon: terms.beacon,
    localBeacon: terms.localBeacon,
    get explorerUrl() {
      return explorerUrl();
    },
    view: () =>
      (view ??= describeNetwork({ source, chain: opened.chain, explorerUrl: explorerUrl(), state })),
    setPreparation: (next) => void (preparation = next),
    findSpentBudget: (dappId) => budget.findSpent(dappId),

    async start() {
      const { signal } = (stopping = new AbortController());
      const onError = (error: unknown): void => {
        if (!signal.aborted) logTrouble(error);
      };
      try {
        const { rpcUrl, isNew, takenPort, findings } = await openNetworkParts(
          { ...options, budget, signal, onError },
          opened,
          {
            onChain: () => void (view = undefined),
            onDown: (why, remedy) =>
              become({ status: "unavailable", why, detail: [why, remedy ?? []].flat().join("; ") }),
            onInUse(error) {
              log.error(error.message);
              become({ status: "unavailable", why: ACCOUNT_IN_USE, detail: error.message });
              void close().catch(onError);
            },
          },
        );
        return {
          isNew,
          findings,
          ...(rpcUrl === undefined ? {} : { rpcUrl }),
          ...(takenPort === undefined ? {} : { takenPort }),
        };
      } catch (error) {
        await closeParts();
        forgetParts();
        throw error;
      }
    },

    serve() {
      if (closing === undefined) become({ status: "serving" });
    },

    fail(error, { isTriedAgain } = { isTriedAgain: false }) {
      const detail = isTriedAgain ? `${messageOf(error)}; it is tried again` : messageOf(error);
      become({ status: "unavailable", why: isTriedAgain ? TRIED_AGAIN : FAILED, detail });
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

    close,
  };
}

/** Shows the parts of a network that are open, some of them only while it serves. */
function showParts(
  { source, store }: ServedNetworkOptions,
  opened: Partial<Opened>,
  { isServing, explorerUrl }: { readonly isServing: () => boolean; readonly explorerUrl: () => string },
) {
  const { isEmbedded, profile } = source;
  const findRecordedCallbacks = (requestIds: readonly string[]) =>
    findCallbackFailures(store.db, profile.name, requestIds);
  return {
    intake: () => (isServing() ? opened.dispatch?.intake() : undefined),
    pipeline: () => opened.dispatch?.pipeline(),
    verifiable: () => opened.chain && describeVerifiable(source, opened.chain, findRecordedCallbacks),
    explored: () =>
      (opened.explored ??= opened.chain && {
        ...describeChain(source, opened.chain, findRecordedCallbacks),
        findLinking: async (address) =>
          (await findLinkingTransaction(store.db, { network: profile.name, address })) as Hex | undefined,
        findSeenHead() {
          const head = opened.watcher?.head();
          if (head === undefined) return undefined;
          const { number, timestamp, seenAtMs } = head;
          return { number, timestamp, agoMs: performance.now() - seenAtMs };
        },
        ...(isEmbedded && { findOracleReason: (id) => opened.oracle?.findReason?.(id) }),
      }),
    observed: () =>
      isServing() ? opened.chain && describeObserved(source, opened.chain, explorerUrl()) : undefined,
    blockMs: () => (isEmbedded ? undefined : (opened.chain?.blockMs ?? DEFAULT_BLOCK_MS)),
    faucet: () => (isServing() ? opened.oracle?.faucet : undefined),
    secrets() {
      const { secrets } = opened.oracle ?? {};
      if (secrets === undefined || typeof secrets === "string") return secrets ?? "it is starting";
      const { operator, deployment } = opened.chain!;
      return {
        holder: secrets.holder,
        operator: operator.address.toLowerCase() as Hex,
        chainId: profile.chainId,
        router: deployment.contracts.functionsRouter,
      };
    },
    gateway() {
      const { secrets } = opened.oracle ?? {};
      return isServing() && typeof secrets === "object" ? secrets.gateway : undefined;
    },
    getCode: (address) => opened.chain!.client.getCode(address),
    oracleNodes: async () => (isServing() ? await opened.oracle?.nodes?.() : undefined),
  } satisfies Partial<ServedNetwork>;
}

/** Opens the parts of a network. Throws if another process sends with its account. */
async function openNetworkParts(
  scope: ServedNetworkScope,
  opened: Partial<Opened>,
  on: {
    readonly onChain: () => void;
    readonly onDown: ChainEvents["onDown"];
    /** Called once all parts are open. */
    readonly onInUse: (error: AccountInUseError) => void;
  },
): Promise<NetworkChain> {
  const { source, store, onError } = scope;
  const { name } = source.profile;
  const known = (await findChain(store.db, name)) as Parameters<NetworkSource["open"]>[0];
  const chain = (opened.chain = await source.open(known, { onDown: on.onDown, onError }));
  on.onChain();
  // With replicas, only the one that dispatches adopts it.
  if (scope.replica === undefined) await adoptChain({ ...scope, network: name, chain, isNew: chain.isNew });
  let inUse: AccountInUseError | undefined;
  const { client, deployment, operator } = chain;
  const accountWatch = createAccountWatch({
    network: name,
    client,
    store,
    operator: operator.address,
    presetConsumer: deployment.contracts.presetConsumer,
    firstBlock: deployment.blockNumber,
    onFound(error) {
      inUse = error;
      if (opened.health !== undefined) on.onInUse(error);
    },
  });
  const watcher = (opened.watcher = createChainWatcher({
    client,
    pollIntervalMs: source.terms.pollIntervalMs,
    rolledBackAfterMs: source.terms.rolledBackAfterMs,
    rereadIntervalMs: source.terms.rereadIntervalMs,
    onError,
    onGap: () => accountWatch.doubt(),
  }));
  const oracle = (opened.oracle = await openOracle(scope, chain));
  const network = openPipelineNetwork(scope, { chain, watcher, oracle, accountWatch });
  const dispatch = (opened.dispatch = await openLeaseHolder({ ...scope, network }));
  opened.stopAccountWatch = repeat(
    async () => (dispatch.pipeline() === undefined ? undefined : await accountWatch.look()),
    ACCOUNT_WATCH_MS,
    onError,
  );
  await Promise.race([oracle.prepared, sleep(PREPARED_WAIT_MS, undefined, { ref: false })]);
  opened.health = openHealth(scope, { chain, watcher, oracle, dispatch });
  if (inUse !== undefined) throw inUse;
  return chain;
}

/** Opens a network's oracle: starts it here, or connects to what its own processes show. */
async function openOracle(scope: ServedNetworkScope, chain: NetworkChain): Promise<OpenOracle> {
  const { source, oracle, store, signal, onError } = scope;
  const { client, deployment } = chain;
  const network = { name: source.profile.name, client, store };
  if ("external" in oracle) {
    const { functionsCoordinator: coordinator } = deployment.contracts;
    const nodes = watchNodes({ client, coordinator, signal, onError });
    // Starts the first reading early, so that it is ready for the first caller; it never rejects.
    void nodes();
    const { external: contracts, oracleUrl } = oracle;
    return { nodes, secrets: connectSecrets({ network: network.name, contracts, oracleUrl, chain }) };
  }
  const answered = chain.isNew ? undefined : await findAnsweredBlock(network);
  const fromBlock = answered ?? BigInt(deployment.blockNumber);
  const companion = startCompanion({ ...scope, chain, keys: oracle.embedded, fromBlock });
  const readCheckpoint = async () => {
    const { caughtUp, checkpoint: blockNumber } = companion.oracleStatus();
    // Read after the status: every answer that it counts is in this block or an earlier one.
    const head = caughtUp ? await client.getHead("latest") : undefined;
    return head && { blockNumber, head };
  };
  return {
    ...companion,
    findReason: (id) => companion.oracleStatus().pending.find(({ requestId }) => requestId === id)?.why,
    endCheckpoints: keepOracleCheckpoint(network, readCheckpoint, onError),
  };
}

function openPipelineNetwork(
  { source, budget, onError }: ServedNetworkScope,
  {
    chain,
    watcher,
    oracle,
    accountWatch,
  }: Pick<Opened, "chain" | "watcher" | "oracle"> & { readonly accountWatch: AccountWatch },
): PipelineNetwork {
  const { client } = chain;
  const { finalityDepth: depth, hasFinalizedTag } = source.terms;
  const finality = createFinality({ client, depth, hasFinalizedTag, head: () => watcher.head() });
  const { findReason: oracleWait, nodes: oracleNodes } = oracle;
  return { source, chain, watcher, accountWatch, finality, budget, oracleWait, oracleNodes, onError };
}

function openHealth(
  { source, book, budget }: ServedNetworkScope,
  { chain, watcher, oracle, dispatch }: Pick<Opened, "chain" | "watcher" | "oracle" | "dispatch">,
): Opened["health"] {
  const { name } = source.profile;
  const { client, operator, deployment, pause, warnings } = chain;
  const { oracleStatus } = oracle;
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
    lowSubscriptionJuels: source.terms.allowanceJuels / 10n,
    openRequests: () => book.openCount(name),
    queuedRequests: () => dispatch.intake().queued(),
    damagedRequests: () => book.damaged.count(name),
    ...(oracleStatus && { oracle: () => describeOracleHealth(oracleStatus()) }),
  });
}
