import { setTimeout as sleep } from "node:timers/promises";
import { createFinality } from "../evm/finality.ts";
import { createChainWatcher } from "../evm/watcher.ts";
import type { ChainWatcher } from "../evm/watcher.ts";
import type { NetworkChain, NetworkSource } from "../networks/network.ts";
import { describeChain, describeNetwork } from "./networkViews.ts";
import { withDeadline } from "../lib/deadline.ts";
import { messageOf } from "../lib/errors.ts";
import { repeat } from "../lib/repeat.ts";
import type { Companion, ServedNetworkOptions } from "./servedNetworkOptions.ts";
import { forgetChain } from "./forgetChain.ts";
import type { NodeWatch } from "./nodeWatch.ts";
import { describeOracleHealth } from "./oracleHealth.ts";
import type { ServiceNetwork } from "../requests/serviceNetwork.ts";
import type { ExploredChain } from "../explorer/explorer.ts";
import { assertJournalKnows, noteSpentNonce } from "../requests/journalCheck.ts";
import { endUncertainRequests } from "../requests/uncertainRequests.ts";
import { openRequestPipeline } from "../requests/requestPipeline.ts";
import type { RequestPipeline } from "../requests/requestPipeline.ts";
import { createRetention } from "../requests/retention.ts";
import type { Retention } from "../requests/retention.ts";
import { createNetworkHealth } from "../requests/networkHealth.ts";
import type { NetworkReadiness, NetworkView } from "../requests/views.ts";
import { findChain, findOracleCheckpoint, saveChain, saveOracleCheckpoint } from "../store/chainRecords.ts";
import { verifiedContractsOf } from "../chainlink/contractBook.ts";
import type { VerifiableNetwork } from "../verify/verifier.ts";

/** How long a start waits for what runs beside the service, such as an empty reserve of LINK that is filled up. */
const PREPARED_WAIT_MS = 3_000;
const STARTING = "it is starting";
const FAILED = "its chain can't be served; whoever runs the service sees why in its readiness";
/** Between notes of the oracle's checkpoint; what came after the last one is read again at a start. */
const CHECKPOINT_INTERVAL_MS = 5_000;
/** How long the last one may take: without it the next start reads some more blocks. */
const LAST_CHECKPOINT_MS = 2_000;

/** One network that is served: chain, pipeline, and what runs beside them. */
export interface ServedNetwork extends ServiceNetwork {
  start(): Promise<{ readonly rpcUrl?: string; readonly isNew: boolean }>;
  /** The pipeline from `start` on, before the network is said to serve. */
  openedPipeline(): RequestPipeline | undefined;
  /** Takes what the readiness is to tell of the dapps' preparation. */
  setPreparation(preparation: Preparation): void;
  /** The chain for the explorer, once it is there. */
  explored(): ExploredChain | undefined;
  /** The chain for checks of results, once it is there. */
  verifiable(): VerifiableNetwork | undefined;
  /** From now on the network takes requests. */
  serve(): void;
  /** From now on it takes none, for a reason that the readiness tells. */
  fail(error: unknown): void;
  /** Idempotent. Not while `start` runs. */
  close(): Promise<void>;
}

/** What the readiness tells of the dapps' preparation. */
export interface Preparation {
  /** Whether there is a dapp that can be served. */
  readonly isReady: boolean;
  readonly warnings: readonly string[];
}

/** Wires one network, whoever runs its chain and its oracle. Service and oracle share nothing but the chain. */
export function createServedNetwork(options: ServedNetworkOptions): ServedNetwork {
  const { source, store, book, log } = options;
  const { profile, terms } = source;
  const { name, chainId } = profile;
  const stopping = new AbortController();
  const onError = (error: unknown): void => {
    if (!stopping.signal.aborted) log.warn({ err: error }, "chain trouble; it is tried again");
  };

  let chain: NetworkChain | undefined;
  let watcher: ChainWatcher | undefined;
  let companion: Companion | undefined;
  let pipeline: RequestPipeline | undefined;
  let stopCheckpoints: (() => void) | undefined;
  let retention: Retention | undefined;
  let serving = false;
  let trouble = STARTING;
  /** What the operator is told besides, with paths that are no caller's matter. */
  let reason: string | undefined;
  let preparation: Preparation = { isReady: true, warnings: [] };
  let closing: Promise<void> | undefined;
  let view: NetworkView | undefined;
  let explored: ExploredChain | undefined;
  let nodes: NodeWatch | undefined;
  let health: (() => Promise<NetworkReadiness>) | undefined;

  const describe = (): NetworkView =>
    describeNetwork({
      source,
      chain,
      explorerUrl: explorerUrl(),
      trouble: serving ? undefined : trouble,
      isStarting: trouble === STARTING,
    });
  const explorerUrl = (): string => source.explorerUrl ?? `${options.baseUrl()}/explorer/${name}`;
  const change = (next: { serving: boolean; trouble: string }): void => {
    ({ serving, trouble } = next);
    view = undefined;
  };

  /** Notes how far the oracle has answered everything, so that the next start need not read the whole chain. */
  const keepCheckpoint = async (): Promise<void> => {
    if (pipeline !== undefined && chain !== undefined)
      await noteSpentNonce({
        network: name,
        client: chain.client,
        store,
        operator: chain.operator.address,
      });
    const status = companion?.oracleStatus?.();
    // Read after the status: every answer that it counts is in this block or before.
    const head = status?.caughtUp ? await chain?.client.getHead("latest") : undefined;
    if (status === undefined || head === undefined) return;
    await saveOracleCheckpoint(store.db, name, { blockNumber: status.checkpoint, head });
  };

  /** Takes the chain for the one that the journal is about, or begins a new journal for it. */
  const adopt = async ({ client, identity, deployment, isNew, operator }: NetworkChain): Promise<void> => {
    if (isNew) {
      await forgetChain({ network: name, identity, deployment, store, book });
      return;
    }
    const account = { network: name, client, store, operator: operator.address };
    await assertJournalKnows({
      ...account,
      presetConsumer: deployment.contracts.presetConsumer,
      firstBlock: deployment.blockNumber,
      isAccepted: options.acceptsChain,
      onAccepted: () => endUncertainRequests({ ...account, book }),
    });
    await store.write((db) => saveChain(db, name, identity, deployment));
  };

  /** First block that may hold a request which the oracle has not answered. */
  const findFirstBlock = async ({ client, deployment, isNew }: NetworkChain): Promise<bigint> => {
    const noted = isNew ? undefined : await findOracleCheckpoint(store.db, name);
    // A power cut may have taken blocks with answers: what they answered waits again.
    const isKept = noted !== undefined && (await client.getHead(noted.head.number))?.hash === noted.head.hash;
    return isKept ? noted.blockNumber : BigInt(deployment.blockNumber);
  };

  return {
    profile,
    maxResponseBytes: terms.maxResponseBytes,
    get explorerUrl() {
      return explorerUrl();
    },
    view: () => (view ??= describe()),
    pipeline: () => (serving ? pipeline : undefined),
    openedPipeline: () => pipeline,
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
      },
    explored: () => (explored ??= chain && describeChain(source, chain)),
    faucet: () => (serving ? companion?.faucet : undefined),
    getCode: (address) => chain!.client.getCode(address),

    async start() {
      const known = (await findChain(store.db, name)) as Parameters<NetworkSource["open"]>[0];
      chain = await source.open(known, {
        onDown: (why) => change({ serving: false, trouble: why }),
        onError,
      });
      const { client, deployment, operator, fees, pipelining } = chain;
      for (const finding of chain.findings) log.error(finding);
      await adopt(chain);
      const { contracts } = deployment;
      const fromBlock = await findFirstBlock(chain);
      watcher = createChainWatcher({
        client,
        pollIntervalMs: terms.pollIntervalMs,
        rolledBackAfterMs: terms.rolledBackAfterMs,
        onError,
      });
      const { signal } = stopping;
      companion = options.accompany?.({ chain, fromBlock, signal, onError });
      nodes = options.watchNodes?.({ client, coordinator: contracts.functionsCoordinator, signal, onError });
      // The first reading is at hand when the first caller asks; it never rejects.
      void nodes?.();
      const status = companion?.oracleStatus;
      const followed = watcher;
      const finality = createFinality({
        client,
        depth: terms.finalityDepth,
        hasFinalizedTag: terms.hasFinalizedTag,
        head: () => followed.head(),
      });
      stopCheckpoints = repeat(keepCheckpoint, CHECKPOINT_INTERVAL_MS, onError);
      pipeline = await openRequestPipeline({
        chain: {
          network: name,
          chainId,
          client,
          watcher,
          contracts,
          operator,
          fees,
          pipelining,
          allowanceJuels: terms.allowanceJuels,
          coinAllowanceWei: terms.coinAllowanceWei,
          isChainlinks: terms.chainlinkCoordinator !== undefined,
          keyHash: deployment.keyHash,
          presetKeyHashes: source.presetKeyHashes,
          vrfOperatorOf: (keyHash) => source.vrfOperators?.find((one) => one.keyHash === keyHash)?.address,
          ...(status && {
            oracleWait: (id) => status().pending.find(({ requestId }) => requestId === id)?.why,
          }),
          presetConfirmations: terms.minConfirmations,
          finality,
        },
        store,
        book,
        onError,
        onReceipt: (receipt, { kind, entries }) =>
          options.onTransaction({ network: name, purpose: kind, requests: entries.flat().length, receipt }),
      });
      await Promise.race([companion?.prepared, sleep(PREPARED_WAIT_MS, undefined, { ref: false })]);
      const opened = pipeline;
      const { finalNumber } = finality;
      const { address } = operator;
      retention = createRetention({
        network: name,
        store,
        operator: address,
        keep: options.keep,
        finalNumber,
      });
      retention.start(onError);
      health = createNetworkHealth({
        client,
        watcher,
        operator: operator.address,
        link: contracts.link,
        subscriptionOwner: contracts.subscriptionOwner,
        functionsRouter: contracts.functionsRouter,
        chainWarnings: chain.warnings,
        subscriptions: opened.subscriptions,
        lowSubscriptionJuels: terms.allowanceJuels / 10n,
        openRequests: () => book.open(name).length,
        queuedRequests: () => opened.queued(),
        ...(status && { oracle: () => describeOracleHealth(status()) }),
      });
      const { rpcUrl, isNew } = chain;
      return { isNew, ...(rpcUrl === undefined ? {} : { rpcUrl }) };
    },

    serve: () => change({ serving: true, trouble: "" }),

    fail(error) {
      reason = messageOf(error);
      change({ serving: false, trouble: FAILED });
    },

    async readiness(): Promise<NetworkReadiness> {
      if (!serving || health === undefined) return { ready: false, why: reason ?? trouble };
      const { warnings = [], ...reading } = await health();
      return {
        ...reading,
        ...(preparation.isReady ? {} : { ready: false, why: reading.why ?? preparation.warnings.join("; ") }),
        warnings: [...warnings, ...preparation.warnings],
      };
    },

    oracleNodes: async () => (serving ? await nodes?.() : undefined),

    close() {
      closing ??= (async () => {
        await pipeline?.close();
        if (serving) change({ serving: false, trouble: "it is stopping" });
        stopping.abort();
        stopCheckpoints?.();
        await retention?.stop();
        await withDeadline(keepCheckpoint(), LAST_CHECKPOINT_MS).catch(onError);
        companion?.close();
        watcher?.close();
        await chain?.close();
      })();
      return closing;
    },
  };
}
