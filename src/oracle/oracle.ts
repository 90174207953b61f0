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
  /** The account that sends the fulfilments. */
  readonly sender: Sender;
}

export interface OracleOptions {
  /** The network's. */
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
  /** The VRF nodes in this process. Default: another process proves words. */
  readonly vrf?: readonly VrfRun[];
  /** An oracle that holds the keys of all nodes. */
  readonly functions?: {
    /** All nodes of the coordinator's configuration, in any order. */
    readonly nodes: readonly FunctionsNode[];
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
  /** Runs the sources: a sandbox pool. The oracle doesn't close it. */
  readonly runner: SourceRunner;
  readonly log: OracleLog;
  /** Aborting it closes the oracle. */
  readonly signal: AbortSignal;
}

/** A running oracle. */
export interface Oracle {
  status(): OracleNetworkStatus;
  /** Takes peers' messages if this oracle is one of several nodes. */
  readonly node: OracleNode | undefined;
  /** Stops taking up work, and returns; transactions already sent may still be mined. Idempotent. */
  close(): void;
}

/**
 * Starts the oracle of a network: its VRF nodes, and the nodes for functions and presets. It reads only the chain and writes only to it. An
 * unreachable network is retried; nothing rejects or throws later.
 */
export function createOracle(options: OracleOptions): Oracle {
  const { client, watcher, log } = options;
  const closing = new AbortController();
  const signal = AbortSignal.any([options.signal, closing.signal]);
  let reorgs = 0;
  const watched = (sender: Sender): Sender =>
    keepOffReplaced(
      observeSender(sender, (receipt) => watcher.expect(receipt)),
      { client, reorgs: () => reorgs },
    );
  const contracts = lowerCase(options.contracts);
  const pipelining = options.pipelining ?? ONE_AT_A_TIME;
  const common = { client, log, signal };
  const functionsOf = {
    ...common,
    coordinator: contracts.functionsCoordinator,
    router: contracts.functionsRouter,
    runner: options.runner,
    rounds: createBeaconRounds({ terms: [options.beacon, options.localBeacon], signal }),
    chainId: options.chainId,
  };
  const vrfRuns = (options.vrf ?? []).map(({ key, sender }) => ({ key, sender: watched(sender) }));
  const vrfSenders = vrfRuns.map(({ sender }) => sender);
  const nodes =
    options.functions?.nodes.map((one) => ({ ...one, transmitter: watched(one.transmitter) })) ?? [];
  const transmitter = options.node && watched(options.node.transmitter);
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
      ...options.node,
      transmitter,
      presets: presetContracts && { ...presetContracts, pipelining },
    });
  const proofSender =
    presetContracts && options.proofsFor
      ? createProofSender({ ...functionsOf, ...presetContracts, ...options.proofsFor })
      : undefined;
  const functions: FunctionsNetwork | undefined =
    node ??
    (options.functions &&
      createFunctionsNetwork({
        ...functionsOf,
        nodes,
        maxResponseBytes: options.functions.maxResponseBytes,
        openSecrets: options.functions.openSecrets,
        pipelining,
      }));
  const presets =
    options.functions && presetContracts
      ? createPresetNetwork({
          ...functionsOf,
          ...presetContracts,
          nodes,
          maxResponseBytes: options.functions.maxResponseBytes,
          pipelining,
        })
      : undefined;
  const vrfNodes = vrfRuns.map((run) =>
    createVrfNode({
      ...common,
      coordinator: contracts.vrfCoordinator,
      batchCoordinator: contracts.batchVrfCoordinator,
      blockhashStore: contracts.blockhashStore,
      ...run,
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
    ...options,
    accounts: [
      ...vrfSenders.map(({ address }) => ({ role: "vrf" as const, address })),
      ...senders.slice(vrfSenders.length).map(({ address }) => ({ role: "transmitter" as const, address })),
    ],
    log,
    signal,
  });
  let lastBlock: OracleNetworkStatus["lastBlock"];
  let caughtUp = false;
  let firstBlock = options.fromBlock ?? 0n;

  const start = async (): Promise<void> => {
    const newest = await reachHead(options, signal);
    if (newest === undefined) return;
    firstBlock = options.fromBlock ?? max(0n, newest - DEFAULT_LOOKBACK_BLOCKS);
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
          { network: options.name, firstReplaced: Number(firstReplaced) },
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
                { err: error, network: options.name },
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
      name: options.name,
      lastBlock,
      caughtUp,
      checkpoint: caughtUp
        ? pending.reduce((least, { blockNumber }) => min(least, blockNumber), next)
        : firstBlock,
      pending,
      accounts: accounts(),
    };
  };
  return { status, node, close: () => closing.abort() };
}

/** Returns the number of the newest block, retrying until there is an answer; `undefined` once the oracle is closed. */
async function reachHead(
  { client, name, log }: Pick<OracleOptions, "client" | "name" | "log">,
  signal: AbortSignal,
): Promise<bigint | undefined> {
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    try {
      const head = await client.getHead("latest");
      if (head) return signal.aborted ? undefined : head.number;
    } catch (error) {
      log.warn({ err: error, network: name }, "oracle: the network can't be reached yet");
    }
    await sleep(pauseAfter(attempt, LONGEST_FREE_PAUSE_MS), undefined, { signal }).catch(() => {});
  }
  return undefined;
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
