import type { Hex } from "viem";
import type { Logger } from "pino";
import type { SandboxPool } from "../sandbox/index.ts";
import { EMBEDDED_GAS_PRICE_WEI } from "./chain/embedded/anvil.ts";
import { startEmbeddedChain } from "./chain/embedded/chain.ts";
import type { EmbeddedChain, EmbeddedDeployment } from "./chain/embedded/chain.ts";
import { mineConfirmations } from "./chain/embedded/confirmations.ts";
import { MAX_RESPONSE_BYTES, finalityDepthOf, minConfirmationsOf } from "./chain/networks.ts";
import type { NetworkProfile } from "./chain/networks.ts";
import { observeSender } from "./chain/observedSender.ts";
import { createSender, fixedFees } from "./chain/sender.ts";
import { createChainWatcher } from "./chain/watcher.ts";
import type { ChainWatcher } from "./chain/watcher.ts";
import { describeChain, describeNetwork } from "./embeddedViews.ts";
import { deriveNetworkKeys } from "./networkKeys.ts";
import { createOracle } from "./oracle/oracle.ts";
import type { Oracle } from "./oracle/oracle.ts";
import { countAnswers, describeOracleHealth } from "./oracleHealth.ts";
import type { ServiceNetwork } from "./service/serviceNetwork.ts";
import type { ExploredChain } from "./service/explorer/explorer.ts";
import { openNetworkDesk } from "./service/networkDesk.ts";
import type { NetworkDesk } from "./service/networkDesk.ts";
import { createNetworkHealth } from "./service/networkHealth.ts";
import type { OpenRequest, RequestBook } from "./service/requestBook.ts";
import type { MinedTransaction } from "./service/transactionMetrics.ts";
import type { NetworkReadiness, NetworkView } from "./service/views.ts";
import {
  findChain,
  findOracleCheckpoint,
  replaceChain,
  saveChain,
  saveOracleCheckpoint,
} from "./store/chainRecords.ts";
import { listOpenRequests } from "./store/requests.ts";
import type { DataDirectory } from "./store/dataDirectory.ts";
import type { Store } from "./store/store.ts";
import { verifiedContractsOf } from "./verify/contracts.ts";
import type { VerifiableNetwork } from "./verify/verifier.ts";

/** RPC port of the first chain, if it is free; the others follow. */
const FIRST_RPC_PORT = 8545;
const STARTING = "it is starting";
/** What each subscription of a dapp is given: 10,000 LINK. */
const ALLOWANCE_JUELS = 10_000n * 10n ** 18n;
/** Between notes of the oracle's checkpoint; what came after the last one is read again at a start. */
const CHECKPOINT_INTERVAL_MS = 5_000;
/** Heads are pushed; this is for the case that one gets lost. */
const POLL_INTERVAL_MS = 1_000;
/** The DON's public keys are for callers' secrets, which this oracle does not take; the contract wants some bytes. */
const NO_PUBLIC_KEY: Hex = "0x00";

/** One network of ours: chain, oracle and desk. */
export interface EmbeddedNetwork extends ServiceNetwork {
  start(): Promise<{ readonly rpcUrl: string; readonly isNew: boolean }>;
  /** The desk from `start` on, before the network is said to serve. */
  openedDesk(): NetworkDesk;
  /** The chain for the explorer, once it is there. */
  explored(): ExploredChain | undefined;
  /** The chain for checks of results, once it is there. */
  verifiable(): VerifiableNetwork | undefined;
  /** From now on the network takes requests. */
  serve(): void;
  close(): Promise<void>;
}

/** Options of {@link createEmbeddedNetwork}. */
export interface EmbeddedNetworkOptions {
  readonly profile: NetworkProfile;
  /** Place among the networks, for the RPC port. */
  readonly index: number;
  readonly directory: DataDirectory;
  readonly store: Store;
  readonly book: RequestBook;
  readonly pool: SandboxPool;
  readonly log: Logger;
  /** Told of every transaction of service and oracle that is mined. */
  readonly onTransaction: (transaction: MinedTransaction) => void;
  readonly host: string;
  /** The service's own base URL, known once it listens. */
  readonly baseUrl: () => string;
}

/** Wires one network whose chain and oracle run right here. Service and oracle share nothing but the chain. */
export function createEmbeddedNetwork(options: EmbeddedNetworkOptions): EmbeddedNetwork {
  const { profile, directory, store, book, pool, log, onTransaction } = options;
  const { name, chainId } = profile;
  const keys = deriveNetworkKeys(directory.masterKey, name);
  const { deployer, operator, vrfAccount, provingKey, signers, transmitters } = keys;
  const fees = fixedFees(EMBEDDED_GAS_PRICE_WEI, { synchronous: true });
  const stopping = new AbortController();
  const onError = (error: unknown): void => {
    if (!stopping.signal.aborted) log.warn({ err: error }, "chain trouble; it is tried again");
  };
  const maxResponseBytes = MAX_RESPONSE_BYTES.embedded;

  let chain: EmbeddedChain | undefined;
  let watcher: ChainWatcher | undefined;
  let oracle: Oracle | undefined;
  let desk: NetworkDesk | undefined;
  let checkpoints: NodeJS.Timeout | undefined;
  let serving = false;
  let trouble = STARTING;
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
    const status = oracle?.status()[0];
    // Read after the status: every answer that it counts is in this block or before.
    const head = status?.caughtUp ? await chain?.client.getHead("latest") : undefined;
    if (status === undefined || head === undefined) return;
    await saveOracleCheckpoint(store.db, name, { blockNumber: status.checkpoint, head });
  };

  /** Takes a new chain where another one was: what lived there is gone, and requests on their way there end. */
  const forgetChain = async (identity: Hex, deployment: EmbeddedDeployment): Promise<void> => {
    const lost = (await listOpenRequests(store.db, name)) as OpenRequest[];
    const message = `the embedded chain of ${name} was replaced by a new one; send the request again`;
    book.adopt(lost);
    book.settle(name, Infinity);
    await book.change(
      lost.map((request) => ({ request, state: "failed", error: { code: "request_failed", message } })),
      (db) => replaceChain(db, name, identity, deployment),
    );
  };

  return {
    profile,
    maxResponseBytes,
    get explorerUrl() {
      return explorerUrl();
    },
    view: () => (view ??= describe()),
    desk: () => (serving ? desk : undefined),
    openedDesk: () => desk!,
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
        deployer,
        roles: {
          operator: operator.address,
          vrf: { oracle: vrfAccount.address, publicKey: [provingKey.publicKey.x, provingKey.publicKey.y] },
          functions: {
            signers: signers.map((signer) => signer.address),
            transmitters: transmitters.map((one) => one.address),
            donPublicKey: NO_PUBLIC_KEY,
            thresholdPublicKey: NO_PUBLIC_KEY,
          },
        },
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
      const { client, identity, deployment } = chain;
      if (chain.isNew) await forgetChain(identity, deployment);
      else await store.write((db) => saveChain(db, name, identity, deployment));
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
      const senderOf = (one: typeof operator, purpose: "words" | "report") =>
        observeSender(createSender({ client, account: one, chainId, fees, signal, onError }), (receipt) =>
          onTransaction({ network: name, purpose, requests: countAnswers(receipt), receipt }),
        );
      oracle = createOracle({
        runner: pool,
        log,
        signal,
        networks: [
          {
            name,
            client,
            watcher,
            contracts,
            vrf: { key: provingKey, senders: [senderOf(vrfAccount, "words")] },
            functions: {
              nodes: signers.map((signer, i) => ({
                signer,
                transmitter: senderOf(transmitters[i]!, "report"),
              })),
              maxResponseBytes,
            },
            fromBlock,
          },
        ],
      });
      checkpoints = setInterval(() => void keepCheckpoint().catch(onError), CHECKPOINT_INTERVAL_MS);
      checkpoints.unref();
      const { vrfCoordinator } = contracts;
      mineConfirmations({ client, watcher, vrfCoordinator, fromBlock, onError });
      desk = await openNetworkDesk({
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
          presetConfirmations: minConfirmationsOf(profile, "embedded"),
          finalityDepth: finalityDepthOf(profile, "embedded"),
        },
        store,
        book,
        onError,
        onReceipt: (receipt, { kind, entries }) =>
          onTransaction({ network: name, purpose: kind, requests: entries.flat().length, receipt }),
      });
      const opened = desk;
      const running = oracle;
      health = createNetworkHealth({
        client,
        watcher,
        operator: operator.address,
        link: contracts.link,
        subscriptionOwner: contracts.subscriptionOwner,
        subscriptions: opened.subscriptions,
        lowSubscriptionJuels: ALLOWANCE_JUELS / 10n,
        openRequests: () => book.open(name).length,
        queuedRequests: () => opened.queued(),
        oracle: () => describeOracleHealth(running.status()[0]!),
      });
      return { rpcUrl: chain.rpcUrl, isNew: chain.isNew };
    },

    serve: () => change({ serving: true, trouble: "" }),

    async readiness(): Promise<NetworkReadiness> {
      if (!serving || health === undefined) return { ready: false, why: trouble };
      return await health();
    },

    async close() {
      await desk?.close();
      change({ serving: false, trouble: "it is stopping" });
      stopping.abort();
      clearInterval(checkpoints);
      await keepCheckpoint().catch(onError);
      oracle?.close();
      watcher?.close();
      await chain?.close();
    },
  };
}
