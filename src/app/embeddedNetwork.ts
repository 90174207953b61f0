import { setTimeout as sleep } from "node:timers/promises";
import { EMBEDDED_GAS_PRICE_WEI } from "../networks/embedded/anvil.ts";
import { startEmbeddedChain } from "../networks/embedded/chain.ts";
import type { EmbeddedChain, EmbeddedDeployment } from "../networks/embedded/chain.ts";
import { mineConfirmations } from "../networks/embedded/confirmations.ts";
import { MAX_RESPONSE_BYTES, finalityDepthOf, minConfirmationsOf } from "../networks/profiles.ts";
import { createSender, fixedFees } from "../evm/sender.ts";
import { createChainWatcher } from "../evm/watcher.ts";
import type { ChainWatcher } from "../evm/watcher.ts";
import { describeChain, describeNetwork } from "./embeddedViews.ts";
import { withDeadline } from "../lib/deadline.ts";
import { messageOf } from "../lib/errors.ts";
import { repeat } from "../lib/repeat.ts";
import { deriveNetworkKeys, rolesOf } from "./networkKeys.ts";
import type { EmbeddedNetworkOptions } from "./embeddedNetworkOptions.ts";
import { createEmbeddedOracle } from "./embeddedOracle.ts";
import { forgetChain } from "./forgetChain.ts";
import type { Oracle } from "../oracle/oracle.ts";
import { keepReserve } from "./reserve.ts";
import { describeOracleHealth } from "./oracleHealth.ts";
import type { ServiceNetwork } from "../requests/serviceNetwork.ts";
import type { ExploredChain } from "../explorer/explorer.ts";
import { assertJournalKnows, noteSpentNonce } from "../requests/journalCheck.ts";
import { openRequestPipeline } from "../requests/requestPipeline.ts";
import type { RequestPipeline } from "../requests/requestPipeline.ts";
import { createNetworkHealth } from "../requests/networkHealth.ts";
import type { NetworkReadiness, NetworkView } from "../requests/views.ts";
import { findChain, findOracleCheckpoint, saveChain, saveOracleCheckpoint } from "../store/chainRecords.ts";
import { verifiedContractsOf } from "../chainlink/contractBook.ts";
import type { VerifiableNetwork } from "../verify/verifier.ts";

/** RPC port of the first chain, if it is free; the others follow. */
const FIRST_RPC_PORT = 8545;
/** How long a start waits for an empty reserve of LINK to be filled up. */
const RESERVE_WAIT_MS = 3_000;
const STARTING = "it is starting";
const FAILED = "its chain can't be served; whoever runs the service sees why in its readiness";
/** What each subscription of a dapp is given: 10,000 LINK. */
const ALLOWANCE_JUELS = 10_000n * 10n ** 18n;
/** Between notes of the oracle's checkpoint; what came after the last one is read again at a start. */
const CHECKPOINT_INTERVAL_MS = 5_000;
/** How long the last one may take: without it the next start reads some more blocks. */
const LAST_CHECKPOINT_MS = 2_000;
/** Heads are pushed; this is for the case that one gets lost. */
const POLL_INTERVAL_MS = 1_000;

/** One network of ours: chain, oracle and pipeline. */
export interface EmbeddedNetwork extends ServiceNetwork {
  start(): Promise<{ readonly rpcUrl: string; readonly isNew: boolean }>;
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

/** Wires one network whose chain and oracle run right here. Service and oracle share nothing but the chain. */
export function createEmbeddedNetwork(options: EmbeddedNetworkOptions): EmbeddedNetwork {
  const { profile, directory, store, book, pool, log, onTransaction } = options;
  const { name, chainId } = profile;
  const keys = deriveNetworkKeys(directory.masterKey, name);
  const { deployer, operator, vrfAccount, provingKey, transmitters } = keys;
  const fees = fixedFees(EMBEDDED_GAS_PRICE_WEI, { synchronous: true });
  const stopping = new AbortController();
  const onError = (error: unknown): void => {
    if (!stopping.signal.aborted) log.warn({ err: error }, "chain trouble; it is tried again");
  };
  const maxResponseBytes = MAX_RESPONSE_BYTES.embedded;

  let chain: EmbeddedChain | undefined;
  let watcher: ChainWatcher | undefined;
  let oracle: Oracle | undefined;
  let pipeline: RequestPipeline | undefined;
  let stopCheckpoints: (() => void) | undefined;
  let serving = false;
  let trouble = STARTING;
  /** What the operator is told besides, with paths that are no caller's matter. */
  let reason: string | undefined;
  let preparation: Preparation = { isReady: true, warnings: [] };
  let closing: Promise<void> | undefined;
  let view: NetworkView | undefined;
  let explored: ExploredChain | undefined;
  let health: (() => Promise<NetworkReadiness>) | undefined;

  const describe = (): NetworkView =>
    describeNetwork({
      profile,
      chain,
      explorerUrl: explorerUrl(),
      trouble: serving ? undefined : trouble,
      isStarting: trouble === STARTING,
      keyHash: provingKey.keyHash,
    });
  const explorerUrl = (): string => `${options.baseUrl()}/explorer/${name}`;
  const change = (next: { serving: boolean; trouble: string }): void => {
    ({ serving, trouble } = next);
    view = undefined;
  };

  /** Notes how far the oracle has answered everything, so that the next start need not read the whole chain. */
  const keepCheckpoint = async (): Promise<void> => {
    if (pipeline !== undefined && chain !== undefined)
      await noteSpentNonce({ network: name, client: chain.client, store, operator: operator.address });
    const status = oracle?.status()[0];
    // Read after the status: every answer that it counts is in this block or before.
    const head = status?.caughtUp ? await chain?.client.getHead("latest") : undefined;
    if (status === undefined || head === undefined) return;
    await saveOracleCheckpoint(store.db, name, { blockNumber: status.checkpoint, head });
  };

  return {
    profile,
    maxResponseBytes,
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
        maxResponseBytes,
        isEmbedded: true,
      },
    explored: () => (explored ??= chain && describeChain(profile, chain, keys.titles)),
    getCode: (address) => chain!.client.getCode(address),

    async start() {
      const known = (await findChain(store.db, name)) as
        | { identity: string; deployment: EmbeddedDeployment }
        | undefined;
      chain = await startEmbeddedChain({
        profile,
        folder: directory.file("chains", name),
        known,
        preferredPort: FIRST_RPC_PORT + options.index,
        rpcOrigins: options.rpcOrigins,
        deployer,
        roles: rolesOf(keys),
        accounts: [operator.address, vrfAccount.address, ...transmitters.map((one) => one.address)],
        onRestart({ isUp, ...restart }) {
          if (isUp) {
            log.warn(restart, "the embedded chain ended by itself and was started again");
            return;
          }
          log.error("the embedded chain ends as soon as it starts");
          change({ serving: false, trouble: "its embedded chain has ended; start the service again" });
        },
        onCompacted: (report) => log.debug(report, "the embedded chain was compacted"),
        onError,
      });
      const { client, identity } = chain;
      const deployment = { ...chain.deployment, keyHash: provingKey.keyHash };
      for (const finding of chain.findings) log.error(finding);
      if (chain.isNew) await forgetChain({ network: name, identity, deployment, store, book });
      else {
        const account = { network: name, client, store, operator: operator.address };
        await assertJournalKnows({ ...account, isAccepted: options.acceptsChain });
        await store.write((db) => saveChain(db, name, identity, deployment));
      }
      const { contracts } = deployment;
      const noted = chain.isNew ? undefined : await findOracleCheckpoint(store.db, name);
      // A power cut may have taken blocks with answers: what they answered waits again.
      const isKept =
        noted !== undefined && (await client.getHead(noted.head.number))?.hash === noted.head.hash;
      const fromBlock = isKept ? noted.blockNumber : BigInt(deployment.blockNumber);
      watcher = createChainWatcher({
        client,
        pollIntervalMs: POLL_INTERVAL_MS,
        rolledBackAfterMs: 0,
        onError,
      });
      const { signal } = stopping;
      const reserve = keepReserve({
        client,
        minter: createSender({ client, account: deployer, chainId, fees, signal, onError }),
        link: contracts.link,
        holder: contracts.subscriptionOwner,
        onError,
      });
      signal.addEventListener("abort", reserve.stop, { once: true });
      oracle = createEmbeddedOracle({
        network: name,
        chainId,
        client,
        watcher,
        contracts,
        keys,
        fees,
        fromBlock,
        maxResponseBytes,
        pool,
        log,
        signal,
        onTransaction,
        onError,
      });
      stopCheckpoints = repeat(keepCheckpoint, CHECKPOINT_INTERVAL_MS, onError);
      const { vrfCoordinator } = contracts;
      mineConfirmations({ client, watcher, vrfCoordinator, fromBlock, onError });
      pipeline = await openRequestPipeline({
        chain: {
          network: name,
          chainId,
          client,
          watcher,
          contracts,
          operator,
          fees,
          allowanceJuels: ALLOWANCE_JUELS,
          keyHash: provingKey.keyHash,
          oracleWait: (id) => oracle?.status()[0]?.pending.find(({ requestId }) => requestId === id)?.why,
          presetConfirmations: minConfirmationsOf(profile, "embedded"),
          finalityDepth: finalityDepthOf(profile, "embedded"),
        },
        store,
        book,
        onError,
        onReceipt: (receipt, { kind, entries }) =>
          onTransaction({ network: name, purpose: kind, requests: entries.flat().length, receipt }),
      });
      await Promise.race([reserve.filled, sleep(RESERVE_WAIT_MS, undefined, { ref: false })]);
      const opened = pipeline;
      const running = oracle;
      health = createNetworkHealth({
        client,
        watcher,
        operator: operator.address,
        link: contracts.link,
        subscriptionOwner: contracts.subscriptionOwner,
        functionsRouter: contracts.functionsRouter,
        chainWarnings: chain.warnings,
        subscriptions: opened.subscriptions,
        lowSubscriptionJuels: ALLOWANCE_JUELS / 10n,
        openRequests: () => book.open(name).length,
        queuedRequests: () => opened.queued(),
        oracle: () => describeOracleHealth(running.status()[0]!),
      });
      return { rpcUrl: chain.rpcUrl, isNew: chain.isNew };
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

    close() {
      closing ??= (async () => {
        await pipeline?.close();
        if (serving) change({ serving: false, trouble: "it is stopping" });
        stopping.abort();
        stopCheckpoints?.();
        await withDeadline(keepCheckpoint(), LAST_CHECKPOINT_MS).catch(onError);
        oracle?.close();
        watcher?.close();
        await chain?.close();
      })();
      return closing;
    },
  };
}
