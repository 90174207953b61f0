import type { Logger } from "pino";
import type { Hex } from "viem";
import type { SandboxPool } from "../../../sandbox/index.ts";
import { createFinality } from "../../evm/finality.ts";
import { readPipelining } from "../../evm/pipelining.ts";
import { REREAD_BLOCKS } from "../../evm/blockReader.ts";
import { createChainWatcher } from "../../evm/watcher.ts";
import { messageOf } from "../../lib/errors.ts";
import { createTroubleLog } from "../network/troubleLog.ts";
import { readContractsFile } from "../../networks/external/contractsFile.ts";
import { assertChainId, connectExternal, REREAD_INTERVAL_MS } from "../../networks/external/externalNode.ts";
import { assertDeployed } from "../../networks/external/externalSource.ts";
import { assertRouter, readCoordinatorContracts } from "../../networks/external/coordinatorContracts.ts";
import type { OracleNode } from "../../oracle/node/oracleNode.ts";
import type { GatewayNetwork } from "../../oracle/secrets/gateway.ts";
import type { Oracle } from "../../oracle/oracle.ts";
import type { OracleNetworkStatus } from "../../oracle/status.ts";
import type { MinedTransaction } from "../../requests/observe/transactionMetrics.ts";
import type { OracleCheckpoint } from "../../store/chainRecords.ts";
import { findAnsweredBlock, keepOracleCheckpoint } from "../network/oracleCheckpoint.ts";
import { listEvidence } from "../../store/oracleEvidence.ts";
import type { Store } from "../../store/store.ts";
import { beaconTermsOf, EXTERNAL_MARGIN_SECONDS } from "../../config/beaconSchema.ts";
import type { ExternalNetworkConfig } from "../../config/networkSchema.ts";
import { feesOfExternal, profileOfExternal } from "../network/externalNetworks.ts";
import { untilOpen } from "../network/untilOpen.ts";
import { oracleOfRole } from "./oracleParts.ts";
import type { OracleRole } from "./oracleRole.ts";

/** Polling interval for new heads where the node doesn't push them. */
const POLL_INTERVAL_MS = 500;

/** Answers messages about secrets until the network has been opened. */
const STARTING: GatewayNetwork = {
  async answer() {
    throw new Error("the network is starting");
  },
};

/** One network in an oracle's process. */
export interface OracleNetwork {
  readonly name: string;
  /** `undefined` until the network has been opened. */
  status(): OracleNetworkStatus | undefined;
  /** Why it isn't served yet. */
  trouble(): string | undefined;
  /** Why each of its nodes fails; `undefined` while one of them doesn't. */
  unreachable(): string | undefined;
  /** The node that receives its peers' messages in this process; `undefined` if there is none, or not yet. */
  node(): OracleNode | undefined;
  /** Address of the node's messages; `undefined` without a node. */
  readonly address: { readonly chainId: number; readonly coordinator: Hex } | undefined;
  /** The network's `donId`, and what answers messages about its secrets; `undefined` if it holds none. */
  readonly donId: string | undefined;
  gateway(): GatewayNetwork | undefined;
  /** What keeps it from holding secrets, if anything does. */
  warnings(): readonly string[];
  /** Evidence that this node holds against others, as JSON. */
  evidence(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/**
 * Serves one network as its oracle, as soon as its nodes answer.
 *
 * @throws NetworkFileError when the contracts file can't be used; {@link StartError} when the contracts are another oracle's.
 */
export function serveOracleNetwork(options: {
  readonly name: string;
  readonly config: ExternalNetworkConfig;
  readonly masterKey: Uint8Array;
  readonly store: Store;
  readonly pool: SandboxPool;
  readonly log: Logger;
  readonly onTransaction: (transaction: MinedTransaction) => void;
  /** Hosts that are not public, and that sources may reach anyway. */
  readonly allowHosts: readonly string[];
  /** Which part of the oracle this process runs; default: everything, with all keys. */
  readonly role?: OracleRole | undefined;
}): OracleNetwork {
  const { name, config, store, pool, log, onTransaction } = options;
  const profile = profileOfExternal(name, config);
  const { chainId } = profile;
  const path = config.contracts;
  const file = path === undefined ? undefined : readContractsFile(path, { network: name, chainId });
  const coordinator = file?.contracts.functionsCoordinator ?? config.coordinator;
  const { role, masterKey } = options;
  const contracts = path === undefined || file === undefined ? undefined : { file, path };
  const { allowHosts } = options;
  const createOracle = oracleOfRole({
    role,
    network: name,
    chainId,
    masterKey,
    contracts,
    store,
    allowHosts,
    handKeyOnTo: config.handKeyOnTo,
  });
  const stopping = new AbortController();
  const { signal } = stopping;
  const logTrouble = createTroubleLog(log, "following the chain failed; retrying");
  const onError = (error: unknown): void => {
    if (!signal.aborted) logTrouble(error);
  };
  const client = connectExternal(config.rpcUrls, chainId);
  const { finalityDepth: depth, hasFinalizedTag } = profile;
  const finality = createFinality({ client, depth, hasFinalizedTag });
  let trouble: string | undefined = "it is starting";
  let oracle: Oracle | undefined;
  let gateway: GatewayNetwork | undefined;
  let keyTrouble: (() => string | undefined) | undefined;

  const readCheckpoint = async (): Promise<OracleCheckpoint | undefined> => {
    const status = oracle?.status();
    if (!status?.caughtUp) return undefined;
    // Only final blocks are safe to skip, on whichever branch, and only those whose logs are no longer read again.
    const head = await client.getHead(await finality.finalNumber());
    if (head === undefined) return undefined;
    const next = head.number > REREAD_BLOCKS ? head.number - REREAD_BLOCKS : 0n;
    return { blockNumber: status.checkpoint < next ? status.checkpoint : next, head };
  };

  const open = async (): Promise<void> => {
    await assertChainId(client, { network: name, chainId });
    if (file !== undefined) {
      await assertDeployed(client, file);
      await assertRouter(client, file.contracts);
    }
    const answered = await findAnsweredBlock({ name, client, store });
    const pipelining = await readPipelining(client);
    if (signal.aborted) return;
    const watcher = createChainWatcher({
      client,
      pollIntervalMs: POLL_INTERVAL_MS,
      rereadIntervalMs: REREAD_INTERVAL_MS,
      onError,
    });
    const closeWatcher = (): void => watcher.close();
    signal.addEventListener("abort", closeWatcher, { once: true });
    const created = await createOracle({
      network: name,
      chainId,
      client,
      watcher,
      contracts:
        file?.contracts ??
        (await readCoordinatorContracts(client, {
          coordinator: coordinator!,
          presetConsumer: config.presetConsumer,
        })),
      fees: feesOfExternal(config, profile),
      pipelining,
      fromBlock: answered ?? (file && BigInt(file.blockNumber)),
      beacon: beaconTermsOf(config.beacon, EXTERNAL_MARGIN_SECONDS),
      pool,
      log,
      signal,
      onTransaction,
      onError,
    }).catch((error: unknown) => {
      closeWatcher();
      signal.removeEventListener("abort", closeWatcher);
      throw error;
    });
    // It was closed in the meantime, and `signal` aborted.
    ({ oracle, gateway, keyTrouble } = created);
    trouble = undefined;
  };
  // One attempt at a time: two oracles in one process would sign different proposals with the same key.
  const opening = untilOpen(open, {
    signal,
    onRetry(error) {
      trouble = `${messageOf(error)}; it is tried again`;
      onError(error);
    },
  }).catch(onError);
  const endCheckpoints = keepOracleCheckpoint({ name, client, store }, readCheckpoint, onError);

  return {
    name,
    status: () => oracle?.status(),
    trouble: () => trouble,
    unreachable() {
      const nodes = client.nodes();
      if (nodes.some(({ state }) => state !== "failing" && state !== "excluded")) return undefined;
      return nodes.map(({ node, why }) => `node ${node}: ${why}`).join("; ");
    },
    node: () => oracle?.node,
    address:
      role?.role === "node" && coordinator !== undefined
        ? { chainId, coordinator: coordinator.toLowerCase() as Hex }
        : undefined,
    donId: file?.donId,
    gateway: () => (oracle === undefined ? STARTING : gateway),
    warnings: () => [keyTrouble?.()].filter((one) => one !== undefined),
    evidence: () => listEvidence(store.db, name),
    async close() {
      oracle?.close();
      stopping.abort();
      await endCheckpoints();
      await client.close();
      await opening;
    },
  };
}
