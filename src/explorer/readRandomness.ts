import type { CommitmentView, ProofView, RandomRequestView, RandomnessView } from "../api/types.ts";
import type { Hex } from "viem";
import type { AddressBook } from "../chainlink/addressBook.ts";
import { decodeFulfilments, type Fulfilment } from "../chainlink/calldata.ts";
import { findEvent, type ChainEventOf, type EncodedLog } from "../chainlink/events.ts";
import { UNKNOWN_REASON } from "../chainlink/failedCallbacks.ts";
import { isPaidNatively } from "../chainlink/vrfVersion.ts";
import { deriveFulfilmentWords, deriveWords } from "../chainlink/fulfilmentWords.ts";
import { decodeRevertReason } from "../chainlink/revertReason.ts";
import { toWord } from "../lib/uint256.ts";

/**
 * Reads the proofs in a fulfilment's calldata, sent directly to the coordinator or through its batch contract, together with
 * what the coordinator's logs say about each. Returns an empty list for other calldata.
 */
export function readRandomness(
  input: Hex,
  logs: readonly EncodedLog[],
  book: AddressBook,
): Omit<RandomnessView, "requestedBy">[] {
  const outcomes = readOutcomes(logs);
  return decodeFulfilments(input).map((fulfilment) => {
    const { keyHash, requestId, output, words } = deriveFulfilmentWords(fulfilment);
    return {
      requestId,
      keyHash,
      proof: viewProof(fulfilment.proof),
      commitment: viewCommitment(fulfilment.commitment, book),
      output: toWord(output),
      words: words.map(String),
      ...(outcomes.get(requestId) ?? { outcome: "refused" as const }),
    };
  });
}

/** Reads the requests for random words that a transaction made. */
export function readRandomRequests(
  logs: readonly EncodedLog[],
  book: AddressBook,
): Omit<RandomRequestView, "answeredBy">[] {
  return logs.map(findEvent).flatMap((event) =>
    event?.name === "RandomWordsRequested"
      ? [
          {
            requestId: event.requestId,
            keyHash: event.keyHash,
            preSeed: toWord(event.preSeed),
            subId: event.subId.toString(),
            confirmations: event.minimumRequestConfirmations,
            callbackGasLimit: event.callbackGasLimit,
            numWords: event.numWords,
            sender: book.party(event.sender),
            ...paymentOf(event),
          },
        ]
      : [],
  );
}

/** Reads a request's words from the log of its answer, and that its callback failed, with the reason if that is known. */
export function readWords(
  { numWords }: { readonly numWords: number },
  log: EncodedLog | undefined,
  reason: string | undefined,
): { readonly words?: readonly string[]; readonly callbackReason?: string } {
  const event = log && findEvent(log);
  if (event?.name !== "RandomWordsFulfilled") return {};
  const words = deriveWords(event.outputSeed, numWords).map(String);
  return event.success ? { words } : { words, callbackReason: reason ?? UNKNOWN_REASON };
}

/** Empty for a V2 request, which always pays in LINK. */
function paymentOf(request: { readonly extraArgs?: Hex }): { readonly nativePayment?: boolean } {
  return request.extraArgs === undefined ? {} : { nativePayment: isPaidNatively(request) };
}

type Outcome = Pick<RandomnessView, "outcome" | "reason" | "paymentJuels" | "paymentWei" | "onlyPremium">;

function readOutcomes(logs: readonly EncodedLog[]): Map<Hex, Outcome> {
  const outcomes = new Map<Hex, Outcome>();
  // A callback may have the batch contract try an earlier entry again, which has ended by then.
  const refuse = (requestId: Hex, reason: string): void => {
    if (!outcomes.has(requestId)) outcomes.set(requestId, { outcome: "refused", reason });
  };
  for (const log of logs) {
    const event = findEvent(log);
    if (event?.name === "RandomWordsFulfilled") outcomes.set(event.requestId, outcomeOf(event));
    else if (event?.name === "ErrorReturned") refuse(event.requestId, event.reason);
    else if (event?.name === "RawErrorReturned")
      refuse(event.requestId, decodeRevertReason(event.reason).text);
  }
  return outcomes;
}

function outcomeOf(event: ChainEventOf<"RandomWordsFulfilled">): Outcome {
  const { success, paymentJuels, paymentWei, onlyPremium } = event;
  return {
    outcome: success ? "fulfilled" : "callback failed",
    ...(paymentWei === undefined
      ? { paymentJuels: paymentJuels.toString() }
      : { paymentWei: paymentWei.toString() }),
    ...(onlyPremium === true ? { onlyPremium } : {}),
  };
}

function viewProof(proof: Fulfilment["proof"]): ProofView {
  const point = ({ x, y }: { readonly x: bigint; readonly y: bigint }): readonly [Hex, Hex] => [
    toWord(x),
    toWord(y),
  ];
  return {
    pk: point(proof.publicKey),
    gamma: point(proof.gamma),
    c: toWord(proof.c),
    s: toWord(proof.s),
    seed: toWord(proof.preSeed),
    uWitness: proof.uWitness,
    cGammaWitness: point(proof.cGammaWitness),
    sHashWitness: point(proof.sHashWitness),
    zInv: toWord(proof.zInv),
  };
}

function viewCommitment(commitment: Fulfilment["commitment"], book: AddressBook): CommitmentView {
  const { blockNum, subId, callbackGasLimit, numWords, sender } = commitment;
  return {
    blockNum: blockNum.toString(),
    subId: subId.toString(),
    callbackGasLimit,
    numWords,
    sender: book.party(sender),
    ...paymentOf(commitment),
  };
}
