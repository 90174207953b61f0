import { setTimeout as sleep } from "node:timers/promises";
import { type Hex, zeroAddress } from "viem";
import type { ChainClient } from "../evm/client.ts";
import { observeSender, type Sender } from "../evm/sender.ts";
import type { ChainWatcher } from "../evm/watcher.ts";
import { ONE_AT_A_TIME, type Pipelining } from "../evm/pipelining.ts";
import type { ProvingKey } from "../vrf/proof.ts";
import type { Answerer, ProofCompanion } from "./answerer.ts";
import { LONGEST_FREE_PAUSE_MS, pauseAfter } from "./backoff.ts";
import type { OpenSecrets, SourceRunner } from "./functions/execute.ts";
import { createFunctionsNetwork, type FunctionsNode } from "./functions/functionsNetwork.ts";
import { createOracleNode, type OracleNode, type OracleNodeOptions } from "./node/oracleNode.ts";
import { createProofSender, type ProofSenderOptions } from "./node/proofSender.ts";
import type { OracleLog } from "./log.ts";
import type { BeaconTerms } from "../beacon/drand.ts";
import { createBeaconRounds } from "../beacon/beaconRounds.ts";
import { createPresetNetwork } from "./batches/presetNetwork.ts";
import type { OracleAccount, OracleNetworkStatus } from "./status.ts";
import { createVrfNode } from "./vrf/vrfNode.ts";
import { repeat } from "../lib/repeat.ts";

/** Blocks that are reread on a start without a checkpoint: two days of a chain with 2-second blocks. */
const DEFAULT_LOOKBACK_BLOCKS = 86_400n;

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
  readonly fromBlock?: bigint | undefined;
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
  const { client, watcher, name, log } = options;
  const closing = new AbortController();
  const signal = AbortSignal.any([options.signal, closing.signal]);
  let reorgs = 0;
  const { answerers, node, accounts } = createAnswerers(options, signal, (sender) =>
    keepOffReplaced(
      observeSender(sender, (receipt) => watcher.expect(receipt)),
      { client, reorgs: () => reorgs },
    ),
  );
  const balances = watchBalances({
    name,
    client,
    log,
    accounts: accounts.map(({ role, sender: { address } }) => ({ role, address })),
    signal,
  });
  const progress = readChain({
    name,
    client,
    watcher,
    fromBlock: options.fromBlock,
    log,
    answerers,
    senders: accounts.map(({ sender }) => sender),
    onReorg: () => (reorgs += 1),
    signal,
  });
  return {
    status() {
      const { firstBlock, lastBlock, caughtUp } = progress();
      // A batch of presets has the id of the request for its word, and waits for that first.
      const pending = answerers.toReversed().flatMap((one) => one.pending());
      const next = lastBlock === undefined ? firstBlock : lastBlock.number + 1n;
      const checkpoint = pending.reduce((least, { blockNumber }) => min(least, blockNumber), next);
      return {
        name,
        lastBlock,
        caughtUp,
        checkpoint: caughtUp ? checkpoint : firstBlock,
        pending,
        accounts: balances(),
      };
    },
    node,
    close: () => closing.abort(),
  };
}

/** What answers this oracle's part of the requests, in the order in which it reads blocks, and the accounts that it sends from. */
function createAnswerers(options: OracleOptions, signal: AbortSignal, watch: (sender: Sender) => Sender) {
  const shared = shareParts(options, signal);
  const functions = options.functions && {
    nodes: options.functions.nodes.map((one) => ({
      signer: one.signer,
      transmitter: watch(one.transmitter),
    })),
    maxResponseBytes: options.functions.maxResponseBytes,
    openSecrets: options.functions.openSecrets,
  };
  const transmitter = options.node && watch(options.node.transmitter);
  const vrf = (options.vrf ?? []).map(({ key, sender }) => ({ key, sender: watch(sender) }));

  const presets = createPresets(shared, functions, options.proofsFor);
  const vrfNodes = vrf.map(({ key, sender }) =>
    createVrfNode({
      client: shared.client,
      coordinator: shared.vrfCoordinator,
      batchCoordinator: shared.batchVrfCoordinator,
      blockhashStore: shared.blockhashStore,
      key,
      sender,
      pipelining: shared.pipelining,
      presets,
      log: shared.log,
      signal,
    }),
  );
  const node = options.node && transmitter && createOwnNode(shared, { ...options.node, transmitter });
  const functionsNetwork =
    functions &&
    createFunctionsNetwork({
      client: shared.client,
      coordinator: shared.coordinator,
      router: shared.router,
      nodes: functions.nodes,
      runner: shared.runner,
      beaconRounds: shared.beaconRounds,
      openSecrets: functions.openSecrets,
      maxResponseBytes: functions.maxResponseBytes,
      pipelining: shared.pipelining,
      log: shared.log,
      signal,
    });
  const transmitters = [...(functions?.nodes.map((one) => one.transmitter) ?? []), transmitter];
  return {
    // Presets read a block before the proofs that their results go with.
    answerers: [presets, ...vrfNodes, functionsNetwork, node].filter((one) => one !== undefined),
    node,
    accounts: [
      ...vrf.map(({ sender }) => ({ role: "vrf" as const, sender })),
      ...transmitters
        .filter((sender) => sender !== undefined)
        .map((sender) => ({ role: "transmitter" as const, sender })),
    ],
  };
}

/** What the answerers share. Each names what it takes: a member that is renamed is then missed by the compiler. */
type SharedParts = ReturnType<typeof shareParts>;

function shareParts(options: OracleOptions, signal: AbortSignal) {
  const contracts = lowerCase(options.contracts);
  const { presetConsumer = zeroAddress } = contracts;
  return {
    client: options.client,
    chainId: options.chainId,
    vrfCoordinator: contracts.vrfCoordinator,
    batchVrfCoordinator: contracts.batchVrfCoordinator,
    blockhashStore: contracts.blockhashStore,
    /** Of functions. */
    coordinator: contracts.functionsCoordinator,
    router: contracts.functionsRouter,
    presetConsumer: presetConsumer === zeroAddress ? undefined : presetConsumer,
    runner: options.runner,
    beaconRounds: createBeaconRounds({ terms: [options.beacon, options.localBeacon], signal }),
    pipelining: options.pipelining ?? ONE_AT_A_TIME,
    log: options.log,
    signal,
  };
}

/** Creates what answers presets beside the proofs of this process, or passes the proofs on to those who do. */
function createPresets(
  shared: SharedParts,
  functions: Pick<NonNullable<OracleOptions["functions"]>, "nodes" | "maxResponseBytes"> | undefined,
  proofsFor: OracleOptions["proofsFor"],
): ProofCompanion | undefined {
  const { chainId, presetConsumer, vrfCoordinator, log, signal } = shared;
  if (presetConsumer === undefined) return undefined;
  if (functions !== undefined)
    return createPresetNetwork({
      client: shared.client,
      chainId,
      presetConsumer,
      vrfCoordinator,
      beaconRounds: shared.beaconRounds,
      nodes: functions.nodes,
      runner: shared.runner,
      maxResponseBytes: functions.maxResponseBytes,
      pipelining: shared.pipelining,
      log,
      signal,
    });
  if (proofsFor === undefined) return undefined;
  return createProofSender({
    chainId,
    coordinator: shared.coordinator,
    presetConsumer,
    vrfCoordinator,
    set: proofsFor.set,
    readSet: proofsFor.readSet,
    log,
    signal,
  });
}

function createOwnNode(shared: SharedParts, own: NonNullable<OracleOptions["node"]>): OracleNode {
  const { vrfCoordinator, batchVrfCoordinator, presetConsumer, pipelining } = shared;
  return createOracleNode({
    client: shared.client,
    chainId: shared.chainId,
    coordinator: shared.coordinator,
    router: shared.router,
    runner: shared.runner,
    beaconRounds: shared.beaconRounds,
    presets:
      presetConsumer === undefined
        ? undefined
        : { vrfCoordinator, batchVrfCoordinator, presetConsumer, pipelining },
    set: own.set,
    readSet: own.readSet,
    signer: own.signer,
    transmitter: own.transmitter,
    saltOf: own.saltOf,
    journalOf: own.journalOf,
    keepEvidence: own.keepEvidence,
    openSecrets: own.openSecrets,
    onNodeSet: own.onNodeSet,
    maxResponseBytes: own.maxResponseBytes,
    log: shared.log,
    signal: shared.signal,
  });
}

/** How far an oracle has read its chain. */
interface Progress extends Pick<OracleNetworkStatus, "lastBlock" | "caughtUp"> {
  /** The first block it reads. */
  readonly firstBlock: bigint;
}

/** Hands the chain's blocks to what answers requests, and keeps the senders' transactions on the chain. */
function readChain(
  options: Required<Pick<OracleOptions, "name" | "client" | "watcher" | "fromBlock" | "log" | "signal">> & {
    readonly answerers: readonly Answerer[];
    readonly senders: readonly Sender[];
    readonly onReorg: () => void;
  },
): () => Progress {
  const { client, watcher, name, answerers, senders, log, signal } = options;
  let lastBlock: OracleNetworkStatus["lastBlock"];
  let caughtUp = false;
  let firstBlock = options.fromBlock ?? 0n;

  const start = async (): Promise<void> => {
    const newest = await reachHead(options);
    if (newest === undefined) return;
    firstBlock = options.fromBlock ?? max(0n, newest - DEFAULT_LOOKBACK_BLOCKS);
    // On an idle network the next block may take long to come.
    caughtUp = firstBlock > newest;
    let readUpTo = newest;
    const addresses = [...new Set(answerers.flatMap((one) => one.addresses))];
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
        for (const one of answerers) one.onBlock(block, caughtUp);
      },
      async onReorg(firstReplaced) {
        options.onReorg();
        // Requests answered in replaced blocks may be older than those blocks, and are reread.
        readUpTo = (await client.getHead("latest"))?.number ?? readUpTo;
        caughtUp = false;
        if (lastBlock !== undefined && lastBlock.number >= firstReplaced)
          lastBlock = { ...lastBlock, number: firstReplaced - 1n };
        log.warn(
          { network: name, firstReplaced: Number(firstReplaced) },
          "oracle: the chain was reorganised",
        );
        const wanted = answerers.map((one) => one.onReorg(firstReplaced) ?? firstReplaced);
        for (const sender of senders)
          sender.reconcile().catch((error: unknown) => {
            if (!signal.aborted)
              log.warn({ err: error, network: name }, "oracle: lost transactions could not be sent again");
          });
        return wanted.reduce(min, firstReplaced);
      },
    });
    signal.addEventListener("abort", stop, { once: true });
  };
  void start();
  return () => ({ firstBlock, lastBlock, caughtUp });
}

/** Returns the number of the newest block, retrying until there is an answer; `undefined` once the oracle is closed. */
async function reachHead({
  client,
  name,
  log,
  signal,
}: Pick<OracleOptions, "client" | "name" | "log" | "signal">): Promise<bigint | undefined> {
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

/**
 * Wraps a sender so that it never returns a receipt from a replaced block. On a reorg the oracle forgets answers in replaced blocks; an
 * answer it learned of only afterwards would leave the request unanswered for good.
 *
 * @param options.reorgs number of reorgs that the oracle has seen.
 * @returns a sender whose `send` rejects with {@link ReplacedBlockError} instead.
 */
function keepOffReplaced(
  sender: Sender,
  { client, reorgs }: { readonly client: Pick<ChainClient, "getHead">; readonly reorgs: () => number },
): Sender {
  return {
    ...sender,
    async send(call, payload) {
      let known = reorgs();
      const receipt = await sender.send(call, payload);
      const { blockNumber, blockHash, transactionHash } = receipt;
      while (reorgs() !== known) {
        known = reorgs();
        const present = await client.getHead(blockNumber);
        if (present?.hash !== blockHash) throw new ReplacedBlockError(transactionHash, blockNumber);
      }
      return receipt;
    },
  };
}

/** A reorg removed a transaction's block while its receipt was in flight. */
class ReplacedBlockError extends Error {
  constructor(transactionHash: Hex, blockNumber: bigint) {
    super(`a reorg removed block ${blockNumber}, which held ${transactionHash}`);
  }
}

const BALANCE_INTERVAL_MS = 30_000;

interface BalanceOptions {
  /** Name of the network, for the log. */
  readonly name: string;
  readonly client: Pick<ChainClient, "getBalanceWei">;
  readonly accounts: readonly Omit<OracleAccount, "balanceWei">[];
  readonly log: OracleLog;
  readonly signal: AbortSignal;
}

/** Reads the balances of accounts every 30 seconds; returns a function that gives the latest ones. */
function watchBalances(options: BalanceOptions): () => OracleAccount[] {
  const { name, client, accounts, log, signal } = options;
  const balances = new Map<Hex, bigint>();
  const read = async (): Promise<void> => {
    try {
      await Promise.all(
        accounts.map(async ({ address }) => balances.set(address, await client.getBalanceWei(address))),
      );
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error, network: name }, "oracle: balances can't be read");
    }
  };
  // `read` never rejects.
  const stop = repeat(read, BALANCE_INTERVAL_MS, () => {}, { startsNow: true });
  signal.addEventListener("abort", stop, { once: true });
  return () => accounts.map((account) => ({ ...account, balanceWei: balances.get(account.address) }));
}
