import { setTimeout as sleep } from "node:timers/promises";
import { zeroAddress, type Hex } from "viem";
import type { ChainClient } from "../evm/client.ts";
import { type Sender, observeSender } from "../evm/sender.ts";
import type { ChainWatcher } from "../evm/watcher.ts";
import type { Pipelining } from "../evm/pipelining.ts";
import type { ProvingKey } from "../vrf/proof.ts";
import { watchBalances } from "./balances.ts";
import { LONGEST_FREE_PAUSE_MS, pauseAfter } from "./backoff.ts";
import type { OpenSecrets, SourceRunner } from "./execute.ts";
import { createFunctionsNetwork, type FunctionsNetwork } from "./functionsNetwork.ts";
import { createOracleNode, type OracleNode, type OracleNodeOptions } from "./node/oracleNode.ts";
import { createProofSender, type ProofSenderOptions } from "./node/proofSender.ts";
import { keepOffReplaced } from "./keptSender.ts";
import type { OracleLog } from "./log.ts";
import type { BeaconTerms } from "../lib/drand.ts";
import { createBeaconRounds } from "../lib/beaconRounds.ts";
import { createPresetNetwork } from "./batches/presetNetwork.ts";
import type { OracleNetworkStatus } from "./status.ts";
import type { FunctionsNode } from "./transmit.ts";
import { createVrfNode } from "./vrfNode.ts";

/** Blocks that are reread on a start without a checkpoint: two days of a chain with 2-second blocks. */
const DEFAULT_LOOKBACK_BLOCKS = 86_400n;
const ONE_AT_A_TIME = { maxInFlight: 1, maxTransactionGas: 30_000_000n, paceMs: undefined };

/** One VRF node. */
interface VrfRun {
  readonly key: ProvingKey;
  /** Accounts that send the fulfilments, at least one. */
  readonly senders: readonly Sender[];
}

/** One network that the oracle serves. */
export interface OracleNetworkOptions {
  readonly name: string;
  readonly chainId: number;
  readonly client: Pick<ChainClient, "getHead" | "getCode" | "call" | "getBalanceWei" | "request">;
  readonly watcher: Pick<ChainWatcher, "follow" | "expect">;
  readonly contracts: {
    readonly vrfCoordinator: Hex;
    readonly batchVrfCoordinator: Hex;
    readonly blockhashStore: Hex;
    readonly functionsRouter: Hex;
    readonly functionsCoordinator: Hex;
    /** The operator's contract that sends presets; absent on a network without. */
    readonly presetConsumer?: Hex;
  };
  /** Absent if another process proves words. */
  readonly vrf?: VrfRun | undefined;
  /** Additional VRF nodes in this process, each with its own accounts. */
  readonly furtherVrf?: readonly VrfRun[];
  /** An oracle that holds the keys of all nodes. */
  readonly functions?: {
    /** In any order; addresses as in the coordinator's configuration. */
    readonly nodes: readonly FunctionsNode[];
    /** f of the coordinator's configuration. Default 1. */
    readonly faulty?: number;
    /** Longest result or error text, in bytes. */
    readonly maxResponseBytes: number;
    readonly openSecrets?: OpenSecrets | undefined;
  };
  /** How transactions share blocks; each account's sender allows as many at once. Default: one at a time per account, 30,000,000 gas each. */
  readonly pipelining?: Pipelining | undefined;
  /** The nodes that get this process' proofs, where others run them. */
  readonly proofsFor?: Pick<ProofSenderOptions, "set" | "readSet">;
  /** One of several nodes that don't trust each other. */
  readonly node?: Pick<
    OracleNodeOptions,
    | "set"
    | "readSet"
    | "signer"
    | "transmitter"
    | "saltOf"
    | "journalOf"
    | "keepEvidence"
    | "openSecrets"
    | "onNodeSet"
    | "maxResponseBytes"
  >;
  /** How rounds of drand are found, for what waits for one. Default: such presets and functions fail. */
  readonly beacon?: BeaconTerms | undefined;
  readonly localBeacon?: BeaconTerms | undefined;
  /** First block to read, an earlier status' `checkpoint`. Default: 86,400 blocks before the newest. */
  readonly fromBlock?: bigint;
}

export interface OracleOptions {
  readonly networks: readonly OracleNetworkOptions[];
  /** Runs the sources: a sandbox pool. The oracle doesn't close it. */
  readonly runner: SourceRunner;
  /** With several networks, each line gets a field `network`. */
  readonly log: OracleLog;
  /** Aborting it closes the oracle. */
  readonly signal?: AbortSignal;
}

/** A running oracle. */
export interface Oracle {
  status(): readonly OracleNetworkStatus[];
  /** By network, its node if this oracle is one of several; peers' messages go there. */
  readonly nodes: readonly (OracleNode | undefined)[];
  /** Stops taking up work, and returns; transactions already sent may still be mined. Idempotent. */
  close(): void;
}

/**
 * Starts the oracle of some networks: the VRF node and the network of nodes for functions. It reads only the chain and writes only to it.
 * An unreachable network is retried; nothing rejects or throws later.
 */
export function createOracle(options: OracleOptions): Oracle {
  const controller = new AbortController();
  const close = (): void => controller.abort();
  if (options.signal?.aborted) close();
  options.signal?.addEventListener("abort", close, { once: true, signal: controller.signal });
  const served = options.networks.map((network) => serve(network, options, controller.signal));
  return { status: () => served.map(({ status }) => status()), nodes: served.map(({ node }) => node), close };
}

/** Starts one network; returns a function that gives its status, and its node. */
function serve(
  network: OracleNetworkOptions,
  options: OracleOptions,
  signal: AbortSignal,
): { readonly status: () => OracleNetworkStatus; readonly node: OracleNode | undefined } {
  const { client, watcher } = network;
  let reorgs = 0;
  const watched = (sender: Sender): Sender =>
    keepOffReplaced(
      observeSender(sender, (receipt) => watcher.expect(receipt)),
      { client, reorgs: () => reorgs },
    );
  const contracts = lowerCase(network.contracts);
  const pipelining = network.pipelining ?? ONE_AT_A_TIME;
  const log = options.networks.length > 1 ? named(options.log, network.name) : options.log;
  const common = { client, log, signal };
  const functionsOf = {
    ...common,
    coordinator: contracts.functionsCoordinator,
    router: contracts.functionsRouter,
    runner: options.runner,
    rounds: createBeaconRounds({ terms: [network.beacon, network.localBeacon], signal }),
    chainId: network.chainId,
  };
  const vrfRuns = [...(network.vrf === undefined ? [] : [network.vrf]), ...(network.furtherVrf ?? [])].map(
    ({ key, senders: own }) => ({ key, senders: own.map(watched) }),
  );
  const vrfSenders = vrfRuns.flatMap((run) => run.senders);
  const nodes =
    network.functions?.nodes.map((one) => ({ ...one, transmitter: watched(one.transmitter) })) ?? [];
  const transmitter = network.node && watched(network.node.transmitter);
  const { presetConsumer = zeroAddress } = contracts;
  const presetContracts =
    presetConsumer === zeroAddress
      ? undefined
      : {
          presetConsumer,
          vrfCoordinator: contracts.vrfCoordinator,
          batchVrfCoordinator: contracts.batchVrfCoordinator,
        };
  const node =
    transmitter &&
    createOracleNode({
      ...functionsOf,
      ...network.node,
      transmitter,
      presets: presetContracts && { ...presetContracts, pipelining },
    });
  const proofSender =
    presetContracts && network.proofsFor
      ? createProofSender({ ...functionsOf, ...presetContracts, ...network.proofsFor })
      : undefined;
  const functions: FunctionsNetwork | undefined =
    node ??
    (network.functions &&
      createFunctionsNetwork({
        ...functionsOf,
        nodes,
        faulty: network.functions.faulty ?? 1,
        maxResponseBytes: network.functions.maxResponseBytes,
        openSecrets: network.functions.openSecrets,
        pipelining,
      }));
  const presets =
    network.functions && presetContracts
      ? createPresetNetwork({
          ...functionsOf,
          ...presetContracts,
          nodes,
          maxResponseBytes: network.functions.maxResponseBytes,
          pipelining,
        })
      : undefined;
  const vrfNodes = vrfRuns.map(({ key, senders: own }) =>
    createVrfNode({
      ...common,
      coordinator: contracts.vrfCoordinator,
      batchCoordinator: contracts.batchVrfCoordinator,
      blockhashStore: contracts.blockhashStore,
      key,
      senders: own,
      pipelining,
      presets: presets ?? proofSender,
    }),
  );
  const { vrfCoordinator, batchVrfCoordinator, functionsCoordinator, functionsRouter } = contracts;
  const addresses = [
    ...new Set([
      ...(vrfNodes.length === 0 ? [] : [vrfCoordinator]),
      ...(functions === undefined ? [] : [functionsCoordinator, functionsRouter]),
      ...(proofSender === undefined ? [] : [functionsCoordinator]),
      ...(presets === undefined && proofSender === undefined ? [] : [vrfCoordinator, presetConsumer]),
      ...(node && presetContracts ? [vrfCoordinator, batchVrfCoordinator, presetConsumer] : []),
    ]),
  ];
  const senders = [
    ...vrfSenders,
    ...nodes.map((one) => one.transmitter),
    ...(transmitter === undefined ? [] : [transmitter]),
  ];
  const accounts = watchBalances({
    ...network,
    accounts: [
      ...vrfSenders.map(({ address }) => ({ role: "vrf" as const, address })),
      ...senders.slice(vrfSenders.length).map(({ address }) => ({ role: "transmitter" as const, address })),
    ],
    log,
    signal,
  });
  let lastBlock: OracleNetworkStatus["lastBlock"];
  let caughtUp = false;
  let firstBlock = network.fromBlock ?? 0n;

  const start = async (): Promise<void> => {
    const newest = await reachHead(network, log, signal);
    if (newest === undefined) return;
    firstBlock = network.fromBlock ?? max(0n, newest - DEFAULT_LOOKBACK_BLOCKS);
    // On an idle network the next block may take long to come.
    caughtUp = firstBlock > newest;
    let readUpTo = newest;
    const stop = watcher.follow({
      addresses: () => addresses,
      fromBlock: firstBlock,
      onBlock(block) {
        // Until then, answers may lie in blocks yet to be read.
        caughtUp ||= block.number >= readUpTo;
        for (const sender of senders) sender.poke();
        // Logs that a node omitted arrive with an earlier block.
        if (lastBlock === undefined || block.number >= lastBlock.number)
          lastBlock = { number: block.number, seenAt: performance.now() };
        // Before the proofs that their results go with.
        presets?.onBlock(block, caughtUp);
        proofSender?.onBlock(block);
        for (const node of vrfNodes) node.onBlock(block, caughtUp);
        functions?.onBlock(block, caughtUp);
      },
      async onReorg(firstReplaced) {
        reorgs += 1;
        // Requests answered in replaced blocks may be older than those blocks, and are reread.
        readUpTo = (await client.getHead("latest"))?.number ?? readUpTo;
        caughtUp = false;
        if (lastBlock !== undefined && lastBlock.number >= firstReplaced)
          lastBlock = { ...lastBlock, number: firstReplaced - 1n };
        log.warn(
          { network: network.name, firstReplaced: Number(firstReplaced) },
          "oracle: the chain was reorganised",
        );
        const wanted = [
          ...vrfNodes.map((node) => node.onReorg(firstReplaced)),
          functions?.onReorg(firstReplaced),
          presets?.onReorg(firstReplaced),
          proofSender?.onReorg(firstReplaced),
        ];
        for (const sender of senders)
          sender.reconcile().catch((error: unknown) => {
            if (!signal.aborted)
              log.warn(
                { err: error, network: network.name },
                "oracle: lost transactions could not be sent again",
              );
          });
        return wanted.reduce<bigint>(
          (first, one) => (one === undefined ? first : min(first, one)),
          firstReplaced,
        );
      },
    });
    signal.addEventListener("abort", stop, { once: true });
  };
  void start();

  const status = (): OracleNetworkStatus => {
    const pending = [
      ...vrfNodes.flatMap((node) => node.pending()),
      ...(functions?.pending() ?? []),
      ...(presets?.pending() ?? []),
    ];
    const next = lastBlock === undefined ? firstBlock : lastBlock.number + 1n;
    return {
      name: network.name,
      lastBlock,
      caughtUp,
      checkpoint: caughtUp
        ? pending.reduce((least, { blockNumber }) => min(least, blockNumber), next)
        : firstBlock,
      pending,
      accounts: accounts(),
    };
  };
  return { status, node };
}

/** Returns the number of the newest block, retrying until there is an answer; `undefined` once the oracle is closed. */
async function reachHead(
  network: OracleNetworkOptions,
  log: OracleLog,
  signal: AbortSignal,
): Promise<bigint | undefined> {
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    try {
      const head = await network.client.getHead("latest");
      if (head) return signal.aborted ? undefined : head.number;
    } catch (error) {
      log.warn({ err: error, network: network.name }, "oracle: the network can't be reached yet");
    }
    await sleep(pauseAfter(attempt, LONGEST_FREE_PAUSE_MS), undefined, { signal }).catch(() => {});
  }
  return undefined;
}

/** Adds the network's name to every line. */
function named(log: OracleLog, network: string): OracleLog {
  return {
    debug: (fields, message) => log.debug({ network, ...fields }, message),
    info: (fields, message) => log.info({ network, ...fields }, message),
    warn: (fields, message) => log.warn({ network, ...fields }, message),
    error: (fields, message) => log.error({ network, ...fields }, message),
  };
}

function lowerCase<Names extends Record<string, Hex>>(contracts: Names): Names {
  return Object.fromEntries(
    Object.entries(contracts).map(([name, address]) => [name, address.toLowerCase()]),
  ) as Names;
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
