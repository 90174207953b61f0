import type { Hex } from "viem";
import { askContract, type ContractRead } from "../../chainlink/contractRead.ts";
import { logsOf } from "../../chainlink/events.ts";
import { deliveryGas, proofsGas } from "../../chainlink/gas.ts";
import { encodeDelivery, type SignedReport } from "../../chainlink/presetReport.ts";
import { COORDINATOR_READS } from "../../chainlink/vrfCoordinator.ts";
import { vrfVersionOf } from "../../chainlink/vrfVersion.ts";
import { describeGasLane } from "../../chainlink/waitingText.ts";
import type { ChainClient } from "../../evm/client.ts";
import type { Receipt } from "../../lib/nodeAnswers.ts";
import { TransactionError } from "../../evm/refusal.ts";
import type { Sender } from "../../evm/sender.ts";
import { messageOf } from "../../lib/errors.ts";
import { beginProof, type BegunProof, type ProvingKey } from "../../vrf/proof.ts";
import { seedOf } from "../../vrf/randomWords.ts";
import { tellAnswers } from "../../lib/spans.ts";
import { LONGEST_FREE_PAUSE_MS } from "../backoff.ts";
import type { ProofCompanion } from "../answerer.ts";
import { encodeFulfillment, readVrfOutcomes, type VrfOutcome, type VrfRequest } from "./fulfillment.ts";
import { createGroupCommit, type CommitPipelining } from "../groupCommit.ts";
import type { OracleLog } from "../log.ts";
import type { Entry, RequestSet } from "../requestSet.ts";
import type { Solvency } from "./solvency.ts";
import type { PendingRequest } from "../status.ts";
import { remember } from "../../lib/memo.ts";

/** A request seen this recently, and never tried, is answered without asking the chain whether it is still open. */
const FRESH_MS = 1_000;

type VrfEntry = Entry<VrfRequest>;

/** Proves the words of one VRF node's requests, and delivers the proofs. */
export interface VrfDelivery {
  /** Returns the proof for a request's word: it is made once. */
  proofOf(request: VrfRequest): BegunProof;
  /** Notes that an entry's request was just mined: nobody else can have answered it so soon. */
  noteFresh(entry: VrfEntry): void;
  /** Sends an entry's proof in the next transaction. The entry is finished, dropped or postponed by that. */
  push(entry: VrfEntry): void;
  /** Says of requests that are being sent what keeps the next transaction, if anything does. */
  explain(pending: readonly PendingRequest[]): PendingRequest[];
}

export interface VrfDeliveryOptions {
  readonly client: Pick<ChainClient, "call">;
  /** VRFCoordinatorV2 or VRFCoordinatorV2_5, lower case. */
  readonly coordinator: Hex;
  /** Its BatchVRFCoordinatorV2 or BatchVRFCoordinatorV2Plus, lower case. */
  readonly batchCoordinator: Hex;
  readonly key: ProvingKey;
  /** The account that pays for the fulfilments; anyone may send one. */
  readonly sender: Sender;
  /** A single entry may exceed `maxTransactionGas`. */
  readonly pipelining: CommitPipelining;
  /** Absent if nothing goes with the proofs. */
  readonly presets?: ProofCompanion | undefined;
  readonly requestSet: RequestSet<VrfRequest>;
  readonly solvency: Solvency;
  readonly log: OracleLog;
  readonly signal: AbortSignal;
}

/** Creates the delivery of one VRF node's proofs, as many in a transaction as fit. */
export function createVrfDelivery(options: VrfDeliveryOptions): VrfDelivery {
  const { client, coordinator, key, sender, presets, requestSet, solvency, log, signal } = options;
  const proofs = new WeakMap<VrfRequest, BegunProof>();
  /** The lane's limit for the newest transaction. */
  let laneWei: bigint | undefined;
  const openness = createOpenCheck(options);
  const laneLimit = createGasLane(key.keyHash, (read) => askContract(client, coordinator, read), log);
  const group = createGroupCommit<VrfEntry, Sender>({
    lanes: [sender],
    pipelining: options.pipelining,
    signal,
    isAlone: (entry) => entry.alone,
    fits: (entries) => proofsGas(entries) <= options.pipelining.maxTransactionGas,
    commit: fulfil,
    onError(error, items) {
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

  function proofOf(request: VrfRequest): BegunProof {
    const { preSeed, blockHash } = request;
    const proof = proofs.get(request) ?? beginProof(key, { preSeed, seed: seedOf(preSeed, blockHash) });
    proofs.set(request, proof);
    return proof;
  }

  async function fulfil(items: readonly VrfEntry[]): Promise<void> {
    const open = (await Promise.all(items.map(openness.stillWanted))).filter((entry) => entry !== undefined);
    try {
      const wanted = await solvency.holdBack(open);
      if (wanted.length > 0) await deliver(wanted);
    } finally {
      solvency.release(open);
    }
  }

  async function deliver(wanted: readonly VrfEntry[]): Promise<void> {
    const startMs = Date.now();
    const fulfilment = encodeFulfillment(
      wanted.map(({ request }) => ({ request, proof: proofOf(request).finish() })),
    );
    laneWei = await laneLimit(wanted[0]!.request);
    const capped = laneWei === undefined ? {} : { maxGasPriceWei: laneWei };
    const send = async (reports: readonly SignedReport[] = []): Promise<Receipt> => {
      const gas = proofsGas(wanted);
      const call =
        reports.length === 0 || presets === undefined
          ? { to: options.batchCoordinator, data: fulfilment, gas }
          : {
              to: presets.presetConsumer,
              data: encodeDelivery(fulfilment, reports),
              gas: deliveryGas(reports, gas),
            };
      return await sender.send({ ...call, ...capped }, undefined);
    };
    // After a failure, a proof goes without results, which can't make it fail again.
    const accompanied = wanted.filter(({ alone }) => !alone).map(({ request }) => request.requestId);
    const receipt = await (presets?.withReports(accompanied, send) ?? send());
    const requestIds = wanted.map(({ request }) => request.requestId);
    tellAnswers("prove words", requestIds, { startMs, receipt });
    const outcomes = readVrfOutcomes(logsOf(receipt.logs, [coordinator, options.batchCoordinator]));
    for (const entry of wanted) {
      const outcome = outcomes.get(entry.request.requestId);
      settle(entry, outcome, receipt, options);
      const isDear = outcome?.kind === "refused" && outcome.reason === "GasPriceExceeded";
      if (isDear && requestSet.isOpen(entry)) void noteGasPrice(entry);
    }
  }

  /** Reports the limit of the key's lane once that is known. */
  async function noteGasPrice(entry: VrfEntry): Promise<void> {
    const maxGasWei = await laneLimit(entry.request);
    if (maxGasWei !== undefined && entry.state === "waiting") entry.why = describeGasLane({ maxGasWei });
  }

  /** Returns why ready requests are not sent while gas is too expensive. */
  function tooDear(): string | undefined {
    const wait = sender.waitsFor();
    // The operator's own limit may be lower.
    if (wait === undefined || wait.capWei !== laneWei) return wait?.message;
    return describeGasLane({ gasPriceWei: wait.priceWei, maxGasWei: laneWei });
  }

  return {
    proofOf,
    noteFresh: openness.noteFresh,
    push(entry) {
      entry.state = "sending";
      entry.why = "in the next transaction";
      group.push(entry);
    },
    explain(pending) {
      const dear = tooDear();
      const isSending = ({ requestId }: PendingRequest): boolean =>
        requestSet.find(requestId)?.state === "sending";
      return pending.map((one) => (dear !== undefined && isSending(one) ? { ...one, why: dear } : one));
    },
  };
}

/** Creates what asks whether requests are still open. */
function createOpenCheck({
  client,
  coordinator,
  requestSet,
  log,
}: Pick<VrfDeliveryOptions, "client" | "coordinator" | "requestSet" | "log">) {
  /** Until when an entry counts as fresh, by `performance.now()`. */
  const freshUntil = new WeakMap<VrfEntry, number>();

  /** An RPC node that does not answer counts as no: at worst the coordinator refuses the entry. */
  async function isGone(request: VrfRequest): Promise<boolean> {
    const { requestId } = request;
    try {
      const read = COORDINATOR_READS[vrfVersionOf(request)].commitment(requestId);
      return (await askContract(client, coordinator, read, requestSet.head())) === 0n;
    } catch (error) {
      log.debug({ err: error, requestId }, "vrf: can't read whether a request is still open");
      return false;
    }
  }

  return {
    noteFresh(this: void, entry: VrfEntry): void {
      freshUntil.set(entry, performance.now() + FRESH_MS);
    },
    /** Returns the entry if its request is still open. Asks the chain, unless the request was just seen, which is the hot path. */
    async stillWanted(this: void, entry: VrfEntry): Promise<VrfEntry | undefined> {
      const { requestId } = entry.request;
      const isFresh = performance.now() < (freshUntil.get(entry) ?? 0);
      freshUntil.delete(entry);
      // A reorg may have replaced the entry in the meantime.
      if (!isFresh && (await isGone(entry.request)) && requestSet.isOpen(entry)) {
        log.info({ requestId }, "vrf: request is gone, fulfilled or cancelled by others");
        requestSet.drop(requestId);
      }
      return requestSet.isOpen(entry) ? entry : undefined;
    },
  };
}

/** Finishes, drops or postpones an entry by what its fulfilment says of it. */
function settle(
  entry: VrfEntry,
  outcome: VrfOutcome | undefined,
  receipt: Receipt,
  { requestSet, solvency, log }: Pick<VrfDeliveryOptions, "requestSet" | "solvency" | "log">,
): void {
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
      return solvency.onRefused(entry);
    case "GasPriceExceeded":
      return requestSet.postpone(entry, describeGasLane({}));
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

/** How long a lane's limit is cached; the coordinator's owner may change it. */
const LANE_MEMORY_MS = 60_000;

/** Returns the gas price in wei above which the coordinator refuses every proof of the key; `undefined`: no limit, or none known. */
type GasLane = (request: VrfRequest) => Promise<bigint | undefined>;

/** Creates the reader of one key's gas lane; VRFCoordinatorV2 has none. Never rejects. */
function createGasLane(
  keyHash: Hex,
  ask: <Value>(read: ContractRead<Value>) => Promise<Value>,
  log: OracleLog,
): GasLane {
  const readLimit = remember(
    LANE_MEMORY_MS,
    async () => (await ask(COORDINATOR_READS["v2.5"].lane(keyHash))).maxGasWei,
  );
  return async (request) => {
    if (vrfVersionOf(request) === "v2") return undefined;
    try {
      return await readLimit();
    } catch (error) {
      log.debug({ err: error }, "vrf: can't read the gas lane's limit");
      return undefined;
    }
  };
}
