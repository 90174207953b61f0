import type { Hex } from "viem";
import { decodeLog, logsOf } from "../../chainlink/events.ts";
import { deriveWords } from "../../chainlink/fulfilmentWords.ts";
import type { Proof } from "../../vrf/proof.ts";
import { keyHash, seedOf as proofSeedOf } from "../../vrf/randomWords.ts";
import { verify } from "../../vrf/verify.ts";
import { readVrfOutcomes, type VrfRequest } from "../vrf/fulfillment.ts";
import type { OracleLog } from "../log.ts";
import type { BatchEntry, BatchRequest, PresetBatches } from "../batches/presetBatches.ts";
import { createBoundedMap } from "../../lib/boundedMap.ts";
import type { ProofOutcome, ProofTaker } from "./inbox.ts";
import type { RawLog } from "../../lib/nodeAnswers.ts";

/** Bytes of proofs kept whose request this node has not seen yet, and the bytes counted for each. */
const MAX_EARLY_BYTES = 4 * 2 ** 20;
const EARLY_PROOF_BYTES = 2_048;
/** Maximum number of senders whose early proofs of one request are kept: the right one may not be the first. */
const MAX_EARLY_SENDERS = 4;

/** A request for a batch's word, as this node sees it on chain. */
interface WordRequest {
  readonly request: VrfRequest;
  readonly keyHash: Hex;
}

/** A request for a word with its proof, which fulfils it. */
interface ProvenRequest {
  readonly request: VrfRequest;
  readonly proof: Proof;
  readonly gasFactor: bigint;
}

export interface WordProofsOptions {
  /** Lower case. */
  readonly presetConsumer: Hex;
  readonly vrfCoordinator: Hex;
  readonly batchVrfCoordinator: Hex;
  readonly batches: PresetBatches;
  /** Called when a batch's seed has become known. */
  readonly onProven: () => void;
  readonly log: OracleLog;
}

/** What a node knows of the words of batches: which are asked for on chain, and who has proven them off it. */
export interface WordProofs extends ProofTaker {
  read(logs: readonly RawLog[]): void;
  /** Notes which proofs the coordinator has refused in a transaction. */
  noteRefusals(logs: readonly RawLog[]): void;
  /** Block confirmations that the request for a batch's word asks for. */
  confirmationsOf(request: BatchRequest): number;
  /** Whether a batch's word is on chain, or can be proven together with its report. */
  isProvable(entry: BatchEntry): boolean;
  /** Returns the requests for words of batches whose proofs have to go with their reports. */
  unproven(entries: readonly BatchEntry[]): readonly ProvenRequest[];
}

export function createWordProofs(options: WordProofsOptions): WordProofs {
  const { presetConsumer, vrfCoordinator, batchVrfCoordinator, batches, log } = options;
  const { requests } = batches;
  const words = new WeakMap<BatchRequest, WordRequest>();
  const proofs = new WeakMap<BatchRequest, Proof>();
  /** Batches whose proof the coordinator has refused: nobody sends it again with a report. */
  const refused = new WeakSet<BatchRequest>();
  const early = createBoundedMap<Hex, ReadonlyMap<string, Proof>>(MAX_EARLY_BYTES);
  const isOnChain = (entry: BatchEntry): boolean => batches.seedOf(entry)?.block !== undefined;

  function noteRefusals(logs: readonly RawLog[]): void {
    for (const [requestId, outcome] of readVrfOutcomes(logsOf(logs, [batchVrfCoordinator]))) {
      const entry = requests.find(requestId);
      if (entry === undefined || outcome.kind !== "refused") continue;
      refused.add(entry.request);
      const { reason } = outcome;
      log.warn({ requestId, reason }, "presets: the coordinator refused a proof; waiting for the word");
    }
  }

  function noteWordRequest(eventLog: RawLog): void {
    const event = decodeLog(eventLog);
    if (event?.name !== "RandomWordsRequested" || event.sender !== presetConsumer) return;
    const request = requests.find(event.requestId)?.request;
    if (request === undefined || request.isJoined || words.has(request)) return;
    const { subId: subscriptionId, minimumRequestConfirmations: confirmations, ...rest } = event;
    const { blockNumber, blockHash } = eventLog;
    words.set(request, {
      keyHash: event.keyHash,
      request: { ...rest, subscriptionId, confirmations, blockNumber, blockHash },
    });
    const kept = early.get(event.requestId);
    early.delete(event.requestId);
    for (const proof of kept?.values() ?? []) takeProof(event.requestId, proof, "");
  }

  function takeProof(requestId: Hex, proof: Proof, address: string): ProofOutcome {
    const entry = requests.find(requestId);
    if (entry === undefined) {
      if (requests.isAnswered(requestId)) return "known";
      const kept = early.get(requestId) ?? new Map<string, Proof>();
      if (kept.has(address) || kept.size < MAX_EARLY_SENDERS)
        early.set(requestId, new Map([...kept, [address, proof]]), (kept.size + 1) * EARLY_PROOF_BYTES);
      return "early";
    }
    const { request } = entry;
    const word = words.get(request);
    if (word === undefined || proofs.has(request) || batches.seedOf(entry) !== undefined) return "known";
    const { preSeed, blockHash } = word.request;
    if (proof.preSeed !== preSeed || keyHash(proof.publicKey) !== word.keyHash) return "wrong";
    const verdict = verify(proof, proofSeedOf(preSeed, blockHash));
    if (!verdict.valid) return "wrong";
    proofs.set(request, proof);
    batches.prove(requestId, deriveWords(verdict.output, 1)[0]!);
    options.onProven();
    return "right";
  }

  return {
    wants(requestId) {
      const entry = requests.find(requestId);
      return entry !== undefined && words.has(entry.request) && batches.seedOf(entry) === undefined;
    },
    take: takeProof,
    read(logs) {
      for (const one of logs) if (one.address === vrfCoordinator) noteWordRequest(one);
      noteRefusals(logs);
    },
    noteRefusals,
    confirmationsOf: (request) => words.get(request)?.request.confirmations ?? 1,
    isProvable: (entry) => isOnChain(entry) || (proofs.has(entry.request) && !refused.has(entry.request)),
    unproven: (entries) =>
      entries.flatMap((entry) => {
        const word = words.get(entry.request);
        const proof = proofs.get(entry.request);
        if (isOnChain(entry) || word === undefined || proof === undefined) return [];
        return [{ request: word.request, proof, gasFactor: entry.gasFactor }];
      }),
  };
}
