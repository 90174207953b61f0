import { type Hex, encodeFunctionData } from "viem";
import type { ChainClient } from "../../evm/client.ts";
import type { RawLog } from "../../lib/nodeAnswers.ts";
import { decodeLog } from "../../chainlink/events.ts";
import {
  describeLostHash,
  describeUnconfirmed,
  isHashStored,
  REACHABLE_BLOCKS,
} from "../../chainlink/waitingText.ts";
import type { Answerer, ProofCompanion } from "../answerer.ts";
import type { VrfRequest } from "./fulfillment.ts";
import { createRequestSet, type Entry } from "../requestSet.ts";
import { createSolvency } from "./solvency.ts";
import { createVrfDelivery, type VrfDeliveryOptions } from "./vrfDelivery.ts";
import { blockhashStoreAbi } from "../../chainlink/contracts/abi.ts";

export interface VrfNodeOptions extends Omit<VrfDeliveryOptions, "requestSet" | "solvency"> {
  readonly client: Pick<ChainClient, "call" | "getCode" | "request">;
  readonly blockhashStore: Hex;
}

type VrfEntry = Entry<VrfRequest>;

/**
 * Creates the VRF node of one key on one coordinator: it answers requests for random words with proofs.
 *
 * A restart, a second instance and a repeated block are harmless: the coordinator pays for a request once, and refuses an entry without
 * failing its neighbours.
 */
export function createVrfNode(options: VrfNodeOptions): Answerer {
  const { coordinator, key, presets, signal } = options;
  const requestSet = createRequestSet<VrfRequest>({ onDue: () => review(), signal });
  const blockhashes = createBlockhashKeeper({ ...options, onKnown: () => review() });
  const solvency = createSolvency({
    ...options,
    presetConsumer: presets?.presetConsumer,
    requestSet,
    onKnown: () => review(),
  });
  const delivery = createVrfDelivery({ ...options, requestSet, solvency });

  /** Delivers the words of every request that is ready. */
  function review(): void {
    if (signal.aborted) return;
    for (const entry of requestSet.open()) {
      if (entry.state !== "waiting") continue;
      const obstacle = obstacleOf(entry);
      if (obstacle !== undefined) entry.why = obstacle;
      else if (entry.request.sender === presets?.presetConsumer) void accompany(presets, entry);
      else delivery.push(entry);
    }
  }

  /** Lets the results of presets catch up with the proof of their word. */
  async function accompany(companion: ProofCompanion, entry: VrfEntry): Promise<void> {
    entry.state = "working";
    entry.why = "running the presets that its word is for";
    const proof = delivery.proofOf(entry.request);
    const accompanied = companion.accompany(entry.request, proof);
    // While the sources run.
    setImmediate(proof.finish);
    await accompanied;
    if (requestSet.isOpen(entry)) delivery.push(entry);
  }

  /** Returns why the request can't be fulfilled now, or `undefined` if it can. */
  function obstacleOf(entry: VrfEntry): string | undefined {
    const { blockNumber } = entry.request;
    const unconfirmed = describeUnconfirmed(entry.request, requestSet.head());
    if (unconfirmed !== undefined) return unconfirmed;
    const shortage = solvency.findShortage(entry.request);
    if (shortage !== undefined) {
      entry.underfunded = true;
      return shortage;
    }
    if (requestSet.isPaused(entry)) return entry.why;
    if (requestSet.head() - blockNumber < EVM_HASH_BLOCKS || blockhashes.has(blockNumber)) return undefined;
    entry.unanswerable = blockhashes.ask(blockNumber) === "lost";
    return entry.unanswerable
      ? describeLostHash(blockNumber)
      : `looking for the hash of block ${blockNumber} in the BlockhashStore`;
  }

  function read(eventLog: RawLog, live: boolean): void {
    const event = decodeLog(eventLog);
    if (event?.name === "RandomWordsRequested" && event.keyHash === key.keyHash) {
      const { subId: subscriptionId, minimumRequestConfirmations: confirmations, ...rest } = event;
      const { blockNumber, blockHash } = eventLog;
      const entry = requestSet.add({ ...rest, subscriptionId, confirmations, blockNumber, blockHash });
      // A request of an earlier block was omitted by a node before, and may be answered.
      if (entry && live && blockNumber === requestSet.head()) delivery.noteFresh(entry);
    } else if (event?.name === "RandomWordsFulfilled") {
      const entry = requestSet.find(event.requestId);
      if (entry) requestSet.finish(entry.request, eventLog.blockNumber);
    } else solvency.onLog(eventLog);
  }

  return {
    addresses: [coordinator],
    onBlock(block, live) {
      requestSet.onHead(block.number);
      for (const eventLog of block.logs) if (eventLog.address === coordinator) read(eventLog, live);
      if (!live) return;
      blockhashes.onHead(
        requestSet.head(),
        new Set([...requestSet.open()].map(({ request }) => request.blockNumber)),
      );
      review();
    },
    onReorg: (firstReplaced) => requestSet.onReorg(firstReplaced),
    pending: () => delivery.explain(requestSet.pending("vrf")),
  };
}

/** Blocks left for a transaction to be mined while the EVM knows the hash that it needs. */
const MINING_MARGIN_BLOCKS = 10n;
/** Age in blocks below which the EVM's own block hash is used. */
const EVM_HASH_BLOCKS = REACHABLE_BLOCKS - MINING_MARGIN_BLOCKS;
/** Age in blocks at which a waiting request's block hash is stored, which leaves 128 blocks to get the transaction mined. */
const STORE_AT_AGE_BLOCKS = 128n;
const GAS = 100_000n;

/**
 * Creates what keeps the block hashes of waiting requests beyond the 256 blocks for which the EVM knows them.
 *
 * @param options.onKnown called when a lookup was answered or a hash was stored.
 */
function createBlockhashKeeper(options: VrfNodeOptions & { readonly onKnown: () => void }) {
  const { client, blockhashStore, sender, log, signal } = options;
  const states = new Map<bigint, "storing" | "tried" | "asking" | "stored" | "lost">();

  async function store(block: bigint): Promise<void> {
    try {
      const data = encodeFunctionData({ abi: blockhashStoreAbi, functionName: "store", args: [block] });
      const receipt = await sender.send({ to: blockhashStore, data, gas: GAS }, undefined);
      if (!receipt.succeeded) {
        // The block was out of the EVM's reach by the time this was mined, so a retry would fail too.
        states.set(block, "tried");
        throw new Error(`store(${block}) reverted in ${receipt.transactionHash}`);
      }
      states.set(block, "stored");
      log.info(
        { block: Number(block), transactionHash: receipt.transactionHash },
        "vrf: block hash stored for a waiting request",
      );
      options.onKnown();
    } catch (error) {
      if (states.get(block) === "storing") states.delete(block);
      if (!signal.aborted) log.error({ err: error, block: Number(block) }, "vrf: block hash was not stored");
    }
  }

  async function look(block: bigint): Promise<void> {
    try {
      states.set(block, (await isHashStored(client, blockhashStore, block)) ? "stored" : "lost");
      options.onKnown();
    } catch {
      states.delete(block);
    }
  }

  return {
    /** Stores the hashes that are due among the blocks of waiting requests. */
    onHead(head: bigint, blocks: ReadonlySet<bigint>): void {
      for (const block of states.keys())
        if (states.get(block) !== "storing" && !blocks.has(block)) states.delete(block);
      for (const block of blocks) {
        const age = head - block;
        if (age < STORE_AT_AGE_BLOCKS || age >= EVM_HASH_BLOCKS || states.has(block)) continue;
        states.set(block, "storing");
        void store(block);
      }
    },
    /** Whether the block's hash is known to be in the BlockhashStore. */
    has: (block: bigint): boolean => states.get(block) === "stored",
    /** Starts to look up the block's hash in the store, once. */
    ask(block: bigint): "asking" | "lost" {
      const state = states.get(block);
      if (state === "lost") return "lost";
      if (state === undefined || state === "tried") {
        states.set(block, "asking");
        void look(block);
      }
      return "asking";
    },
  };
}
