import type { Hex } from "viem";
import type { ChainClient, RawLog, Receipt } from "../evm/client.ts";
import { decodeLog, logsOf } from "../chainlink/events.ts";
import { TransactionError } from "../evm/refusal.ts";
import type { Sender } from "../evm/sender.ts";
import { type ContractRead, askContract } from "../chainlink/contractRead.ts";
import { COORDINATOR_READS } from "../chainlink/vrfCoordinator.ts";
import { vrfVersionOf } from "../chainlink/vrfVersion.ts";
import { messageOf } from "../lib/errors.ts";
import { parseQuantity, RpcError } from "../lib/nodeAnswers.ts";
import { beginProof, type BegunProof, type ProvingKey } from "../vrf/proof.ts";
import { seedOf } from "../vrf/randomWords.ts";
import type { Answerer } from "./answerer.ts";
import { tellAnswers } from "./answerSpans.ts";
import { LONGEST_COSTLY_PAUSE_MS, LONGEST_FREE_PAUSE_MS } from "./backoff.ts";
import { createBlockhashKeeper, REACHABLE_BLOCKS } from "./blockhashKeeper.ts";
import { deliveryGas, encodeDelivery, type SignedReport } from "../chainlink/presetReport.ts";
import { encodeFulfillment, readVrfOutcomes, type VrfOutcome, type VrfRequest } from "./fulfillment.ts";
import { gasOfFulfillment, measureFulfillment } from "./fulfillmentGas.ts";
import type { ProofCompanion } from "./batches/presetNetwork.ts";
import { createGasLane, describeGasLane } from "./gasLane.ts";
import { createGroupCommit, lanesOf, type CommitPipelining } from "./groupCommit.ts";
import { purseOf, shortageOf } from "./purse.ts";
import { createRequestSet, type Entry } from "./requestSet.ts";
import type { OracleLog } from "./log.ts";
import { COST_UNKNOWN, createSolvency, unlessNodeFails } from "./solvency.ts";
import { ORACLE_TOPICS } from "./topics.ts";

const IN_NEXT = "in the next transaction";
const FUNDED_TOPICS: ReadonlySet<string | undefined> = new Set([
  ORACLE_TOPICS.SubscriptionFunded,
  ORACLE_TOPICS.SubscriptionFundedV2Plus,
  ORACLE_TOPICS.SubscriptionFundedWithNative,
]);
/** A request seen this recently, and never tried, is answered without asking the chain whether it is still open. */
const FRESH_MS = 1_000;

export interface VrfNodeOptions {
  readonly client: Pick<ChainClient, "call" | "getCode" | "request">;
  /** VRFCoordinatorV2 or VRFCoordinatorV2_5, lower case. */
  readonly coordinator: Hex;
  /** Its BatchVRFCoordinatorV2 or BatchVRFCoordinatorV2Plus, lower case. */
  readonly batchCoordinator: Hex;
  readonly blockhashStore: Hex;
  readonly key: ProvingKey;
  /** The account that pays for the fulfilments; anyone may send one. */
  readonly sender: Sender;
  /** A single entry may exceed `maxTransactionGas`. */
  readonly pipelining: CommitPipelining;
  /** Absent if nothing goes with the proofs. */
  readonly presets?: ProofCompanion | undefined;
  readonly log: OracleLog;
  readonly signal: AbortSignal;
}

type VrfEntry = Entry<VrfRequest>;

/**
 * Creates the VRF node of one key on one coordinator: it answers requests for random words with proofs.
 *
 * A restart, a second instance and a repeated block are harmless: the coordinator pays for a request once, and refuses an entry without
 * failing its neighbours.
 */
export function createVrfNode(options: VrfNodeOptions): Answerer {
  const { client, coordinator, key, sender, presets, log, signal } = options;
  const requestSet = createRequestSet<VrfRequest>({ onDue: () => review(), signal });
  /** Until when an entry counts as just seen, by `performance.now()`: nobody else can have answered it so soon. */
  const freshUntil = new WeakMap<VrfEntry, number>();
  const proofs = new WeakMap<VrfRequest, BegunProof>();
  /** Subscriptions that were short of LINK or coin, with the sentence that says so. */
  const underfunded = new Map<string, string>();
  const solvency = createSolvency({
    ask: (read, to = coordinator) => askContract(client, to, read),
  });
  const blockhashes = createBlockhashKeeper({
    client,
    blockhashStore: options.blockhashStore,
    sender,
    log,
    signal,
    onKnown: () => review(),
  });
  const laneLimit = createGasLane(key.keyHash, ask, log);
  const { maxInFlight, paceMs, maxTransactionGas } = options.pipelining;
  const group = createGroupCommit<VrfEntry, Sender>({
    lanes: lanesOf([sender], maxInFlight),
    paceMs,
    signal,
    measure: (queue) => measureFulfillment(queue, maxTransactionGas),
    commit: fulfil,
    onError(error, items) {
      if (signal.aborted) return;
      log.error({ err: error, requests: items.length }, "vrf: fulfilment was not sent");
      const isTooLarge = error instanceof TransactionError && error.meaning === "too_large";
      for (const entry of items) {
        entry.alone ||= isTooLarge;
        const what =
          isTooLarge && items.length === 1
            ? `the fulfilment with the callback of ${entry.request.sender}`
            : "the fulfilment";
        requestSet.postpone(entry, `${what} could not be sent: ${messageOf(error)}`, LONGEST_FREE_PAUSE_MS);
      }
    },
  });

  /** Queues every request that is ready. */
  function review(): void {
    if (signal.aborted) return;
    for (const entry of requestSet.open()) {
      if (entry.state === "working") continue;
      const obstacle = obstacleOf(entry);
      entry.why = obstacle ?? IN_NEXT;
      if (obstacle !== undefined) continue;
      entry.state = "working";
      if (entry.request.sender === presets?.presetConsumer) void accompany(presets, entry);
      else group.push(entry);
    }
  }

  /** Lets the results of presets catch up with the proof of their word. */
  async function accompany(companion: ProofCompanion, entry: VrfEntry): Promise<void> {
    entry.why = "running the presets that its word is for";
    const proof = proofOf(entry.request);
    const accompanied = companion.accompany(entry.request, proof);
    // While the sources run.
    setImmediate(proof.finish);
    await accompanied;
    if (!requestSet.isOpen(entry)) return;
    entry.why = IN_NEXT;
    group.push(entry);
  }

  function proofOf(request: VrfRequest): BegunProof {
    const { preSeed, blockHash } = request;
    const proof = proofs.get(request) ?? beginProof(key, { preSeed, seed: seedOf(preSeed, blockHash) });
    proofs.set(request, proof);
    return proof;
  }

  /** Returns why the request can't be fulfilled now, or `undefined` if it can. */
  function obstacleOf(entry: VrfEntry): string | undefined {
    const { blockNumber, confirmations } = entry.request;
    const age = requestSet.head() - blockNumber;
    const confirmed = age + 1n;
    if (confirmed < BigInt(confirmations)) return `waiting for confirmation ${confirmed} of ${confirmations}`;
    const shortage = underfunded.get(purseOf(entry.request));
    if (shortage !== undefined) {
      entry.underfunded = true;
      return shortage;
    }
    if (requestSet.isPaused(entry)) return entry.why;
    if (age < REACHABLE_BLOCKS || blockhashes.has(blockNumber)) return undefined;
    entry.unanswerable = blockhashes.ask(blockNumber) === "lost";
    return entry.unanswerable
      ? `the hash of block ${blockNumber} is out of reach: older than 256 blocks and not in the BlockhashStore`
      : `looking for the hash of block ${blockNumber} in the BlockhashStore`;
  }

  async function fulfil(items: readonly VrfEntry[]): Promise<void> {
    const open = (await Promise.all(items.map(stillWanted))).filter((entry) => entry !== undefined);
    try {
      const wanted = await holdBackUnpaid(open);
      if (wanted.length > 0) await deliver(wanted);
    } finally {
      solvency.release(open.map(({ request }) => request));
    }
  }

  async function deliver(wanted: readonly VrfEntry[]): Promise<void> {
    const startMs = Date.now();
    const fulfilment = encodeFulfillment(
      wanted.map(({ request }) => ({ request, proof: proofOf(request).finish() })),
    );
    const maxGasPriceWei = await laneLimit(wanted[0]!.request);
    const capped = maxGasPriceWei === undefined ? {} : { maxGasPriceWei };
    const send = async (reports: readonly SignedReport[] = []): Promise<Receipt> => {
      const fulfilmentGas = gasOfFulfillment(wanted);
      const call =
        reports.length === 0 || presets === undefined
          ? { to: options.batchCoordinator, data: fulfilment, gas: fulfilmentGas }
          : {
              to: presets.presetConsumer,
              data: encodeDelivery(fulfilment, reports),
              gas: deliveryGas(reports, { fulfilmentGas }),
            };
      return await sender.send({ ...call, ...capped }, undefined);
    };
    // After a failure, a proof goes without results, which can't make it fail again.
    const accompanied = wanted.filter(({ alone }) => !alone).map(({ request }) => request.requestId);
    const receipt = await (presets?.withReports(accompanied, send) ?? send());
    const requestIds = wanted.map(({ request }) => request.requestId);
    tellAnswers("prove words", requestIds, { startMs, receipt });
    const outcomes = readVrfOutcomes(logsOf(receipt.logs, [coordinator, options.batchCoordinator]));
    for (const entry of wanted) settle(entry, outcomes.get(entry.request.requestId), receipt);
  }

  /**
   * Returns the entries without those that would cost us gas for nothing: of others' contracts, those that have no code, which the coordinator
   * refuses to call, and those whose subscription can't pay.
   */
  async function holdBackUnpaid(entries: readonly VrfEntry[]): Promise<readonly VrfEntry[]> {
    const others = entries.filter(({ request }) => request.sender !== presets?.presetConsumer);
    if (others.length === 0) return entries;
    const held = new Set<VrfEntry>();
    try {
      const senders = [...new Set(others.map(({ request }) => request.sender))];
      const codes = await Promise.all(
        senders.map((address) => client.getCode(address).catch(unlessNodeFails)),
      );
      const called = others.filter((entry) => {
        const { sender } = entry.request;
        const code = codes[senders.indexOf(sender)];
        if (code !== "0x" && code !== "unknown") return true;
        held.add(entry);
        if (code === "unknown") requestSet.postpone(entry, COST_UNKNOWN, LONGEST_FREE_PAUSE_MS);
        else
          requestSet.postpone(
            entry,
            `the consumer ${sender} has no code, so the coordinator refuses every answer`,
          );
        return false;
      });
      const gasPriceWei = parseQuantity(await client.request("eth_gasPrice"), "gas price");
      const requests = called.map(({ request }) => request);
      const shortages = await solvency.reserve(requests, gasPriceWei);
      for (const entry of called) {
        const shortage = shortages.get(entry.request);
        if (shortage === undefined) continue;
        held.add(entry);
        entry.underfunded = shortage.isShort;
        requestSet.postpone(
          entry,
          shortage.why,
          shortage.isShort ? LONGEST_COSTLY_PAUSE_MS : LONGEST_FREE_PAUSE_MS,
        );
      }
    } catch (error) {
      log.debug({ err: error }, "vrf: can't read what fulfilments would cost");
      // Whoever can keep the node from answering must not have their proofs paid for.
      for (const entry of error instanceof RpcError ? others : []) {
        if (!held.has(entry)) requestSet.postpone(entry, COST_UNKNOWN, LONGEST_FREE_PAUSE_MS);
        held.add(entry);
      }
    }
    return entries.filter((entry) => !held.has(entry));
  }

  /** Returns the entry if its request is still open. Asks the chain, unless the request was just seen, which is the hot path. */
  async function stillWanted(entry: VrfEntry): Promise<VrfEntry | undefined> {
    const { requestId } = entry.request;
    const isFresh = performance.now() < (freshUntil.get(entry) ?? 0);
    freshUntil.delete(entry);
    // A reorg may have replaced the entry in the meantime.
    if (!isFresh && (await isGone(entry.request)) && requestSet.isOpen(entry)) {
      log.info({ requestId }, "vrf: request is gone, fulfilled or cancelled by others");
      requestSet.drop(requestId);
    }
    return requestSet.isOpen(entry) ? entry : undefined;
  }

  /** An RPC node that does not answer counts as no: at worst the coordinator refuses the entry. */
  async function isGone(request: VrfRequest): Promise<boolean> {
    const { requestId } = request;
    try {
      return (
        (await ask(COORDINATOR_READS[vrfVersionOf(request)].commitment(requestId), requestSet.head())) === 0n
      );
    } catch (error) {
      log.debug({ err: error, requestId }, "vrf: can't read whether a request is still open");
      return false;
    }
  }

  function ask<Value>(read: ContractRead<Value>, seenBlock?: bigint): Promise<Value> {
    return askContract(client, coordinator, read, seenBlock);
  }

  function settle(entry: VrfEntry, outcome: VrfOutcome | undefined, receipt: Receipt): void {
    const { request } = entry;
    const { requestId, sender, callbackGasLimit } = request;
    const { transactionHash } = receipt;
    // A reorg may have replaced the entry; the new one must not be affected by this outcome.
    if (!requestSet.isOpen(entry) && outcome?.kind !== "fulfilled") return;
    if (outcome === undefined) {
      entry.alone = true;
      requestSet.raiseGas(entry);
      log.error({ requestId, transactionHash }, "vrf: a fulfilment failed as a whole");
      return requestSet.postpone(
        entry,
        `the fulfilment ${transactionHash} ran out of gas or reverted as a whole`,
      );
    }
    if (outcome.kind === "fulfilled") {
      requestSet.finish(request, receipt.blockNumber);
      if (outcome.callbackSucceeded) return log.info({ requestId, transactionHash }, "vrf: fulfilled");
      return log.warn(
        { requestId, transactionHash, consumer: sender, callbackGasLimit },
        "vrf: fulfilled, but the consumer's callback reverted; the coordinator never calls it again",
      );
    }
    log.warn({ requestId, transactionHash, reason: outcome.reason }, "vrf: the coordinator refused an entry");
    switch (outcome.reason) {
      case "NoCorrespondingRequest":
        return requestSet.drop(requestId);
      case "InsufficientBalance":
        void noteShortage(request);
        return requestSet.postpone(entry, shortageOf(request));
      case "GasPriceExceeded":
        void noteGasPrice(entry);
        return requestSet.postpone(entry, describeGasLane());
      case "OutOfGas":
        requestSet.raiseGas(entry);
        return requestSet.postpone(
          entry,
          `the consumer ${sender} has no code, or its callback's gas limit of ${callbackGasLimit} did not fit the transaction`,
        );
      default:
        return requestSet.postpone(entry, `the coordinator refused the fulfilment: ${outcome.reason}`);
    }
  }

  /** Holds back the subscription's requests, and reports its balance once that is known. */
  async function noteShortage(request: VrfRequest): Promise<void> {
    const { subscriptionId } = request;
    const purse = purseOf(request);
    underfunded.set(purse, shortageOf(request));
    try {
      const holds = await ask(COORDINATOR_READS[vrfVersionOf(request)].subscription(subscriptionId));
      if (underfunded.has(purse)) underfunded.set(purse, shortageOf(request, holds));
      review();
    } catch (error) {
      log.debug(
        { err: error, subscriptionId: String(subscriptionId) },
        "vrf: can't read a subscription's balance",
      );
    }
  }

  /** Reports the limit of the key's lane once that is known. */
  async function noteGasPrice(entry: VrfEntry): Promise<void> {
    const maxGasWei = await laneLimit(entry.request);
    if (maxGasWei !== undefined && entry.state !== "working") entry.why = describeGasLane(maxGasWei);
  }

  /** Returns why ready requests are not sent while gas is too expensive. */
  function tooDear(): string | undefined {
    const wait = sender.waitsFor();
    return wait && describeGasLane(wait.capWei);
  }

  function read(eventLog: RawLog, live: boolean): void {
    const event = decodeLog(eventLog);
    if (event?.name === "RandomWordsRequested" && event.keyHash === key.keyHash) {
      const { subId: subscriptionId, minimumRequestConfirmations: confirmations, ...rest } = event;
      const { blockNumber, blockHash } = eventLog;
      const entry = requestSet.add({ ...rest, subscriptionId, confirmations, blockNumber, blockHash });
      // A request of an earlier block was omitted by a node before, and may be answered.
      if (entry && live && blockNumber === requestSet.head())
        freshUntil.set(entry, performance.now() + FRESH_MS);
    } else if (event?.name === "RandomWordsFulfilled") {
      const entry = requestSet.find(event.requestId);
      if (entry) requestSet.finish(entry.request, eventLog.blockNumber);
    } else if (FUNDED_TOPICS.has(eventLog.topics[0])) {
      const subscriptionId = BigInt(eventLog.topics[1]!);
      for (const currency of ["LINK", "coin"] as const) underfunded.delete(`${subscriptionId} ${currency}`);
      requestSet.fund(subscriptionId);
    }
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
    pending() {
      const dear = tooDear();
      return requestSet
        .pending("vrf")
        .map((one) => (dear !== undefined && one.why === IN_NEXT ? { ...one, why: dear } : one));
    },
  };
}
