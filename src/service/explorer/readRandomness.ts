import { decodeFunctionData, type Hex } from "viem";
import { decodeLog } from "../../chain/events.ts";
import type { ChainEventOf, EncodedLog } from "../../chain/events.ts";
import { decodeRevertReason } from "../../chain/revertReason.ts";
import { batchVrfCoordinatorAbi, vrfCoordinatorAbi } from "../../contracts/abi.ts";
import { keccak256 } from "../../lib/keccak.ts";
import { encodeUint256s, readUint256 } from "../../lib/uint256.ts";
import type { ContractBook } from "./contractBook.ts";
import type { CommitmentView, ProofView, RandomRequestView, RandomnessView } from "./views.ts";

/** VRF.sol `VRF_RANDOM_OUTPUT_HASH_PREFIX`. */
const OUTPUT_PREFIX = 3n;
/** VRFCoordinatorV2.MAX_NUM_WORDS: a commitment that names more was never accepted. */
const MAX_WORDS = 500;

interface Proof {
  readonly pk: readonly [bigint, bigint];
  readonly gamma: readonly [bigint, bigint];
  readonly c: bigint;
  readonly s: bigint;
  readonly seed: bigint;
  readonly uWitness: Hex;
  readonly cGammaWitness: readonly [bigint, bigint];
  readonly sHashWitness: readonly [bigint, bigint];
  readonly zInv: bigint;
}

interface Commitment {
  readonly blockNum: bigint;
  readonly subId: bigint;
  readonly callbackGasLimit: number;
  readonly numWords: number;
  readonly sender: Hex;
}

/**
 * Reads the proofs out of a fulfilment's calldata, sent straight to VRFCoordinatorV2 or through BatchVRFCoordinatorV2, with what
 * the coordinator's logs say of each. Calldata that is neither gives an empty list.
 */
export function readRandomness(
  input: Hex,
  logs: readonly EncodedLog[],
  book: ContractBook,
): Omit<RandomnessView, "requestedBy">[] {
  const outcomes = readOutcomes(logs);
  return readProofs(input).map(([proof, commitment]) => {
    const keyHash = hash(...proof.pk);
    const requestId = hash(BigInt(keyHash), proof.seed);
    const output = hash(OUTPUT_PREFIX, ...proof.gamma);
    const { numWords } = commitment;
    return {
      requestId,
      keyHash,
      proof: viewProof(proof),
      commitment: viewCommitment(commitment, book),
      output,
      words: Array.from({ length: Math.min(numWords, MAX_WORDS) }, (_, i) =>
        BigInt(hash(BigInt(output), BigInt(i))).toString(),
      ),
      ...(outcomes.get(requestId) ?? { outcome: "refused" as const }),
    };
  });
}

/** Reads the requests for random words that a transaction made. */
export function readRandomRequests(
  logs: readonly EncodedLog[],
  book: ContractBook,
): Omit<RandomRequestView, "answeredBy">[] {
  return logs.map(tryDecode).flatMap((event) =>
    event?.name === "RandomWordsRequested"
      ? [
          {
            requestId: event.requestId,
            keyHash: event.keyHash,
            preSeed: word(event.preSeed),
            subId: event.subId.toString(),
            confirmations: event.minimumRequestConfirmations,
            callbackGasLimit: event.callbackGasLimit,
            numWords: event.numWords,
            sender: book.party(event.sender),
          },
        ]
      : [],
  );
}

/** Decodes a log of ours; `undefined` for any other, and for one that only looks like ours. */
export function tryDecode(log: EncodedLog): ReturnType<typeof decodeLog> {
  try {
    return decodeLog(log);
  } catch {
    return undefined;
  }
}

function readProofs(input: Hex): (readonly [Proof, Commitment])[] {
  for (const abi of [batchVrfCoordinatorAbi, vrfCoordinatorAbi]) {
    try {
      const { functionName, args } = decodeFunctionData({ abi, data: input });
      if (functionName !== "fulfillRandomWords") return [];
      const [proofs, commitments] = args as unknown as [
        Proof | readonly Proof[],
        Commitment | readonly Commitment[],
      ];
      const pairs = [commitments].flat();
      return [proofs]
        .flat()
        .flatMap((proof, i) => (pairs[i] === undefined ? [] : [[proof, pairs[i]] as const]));
    } catch {
      // Another contract's selector, or data that doesn't fit it.
    }
  }
  return [];
}

type Outcome = Pick<RandomnessView, "outcome" | "reason" | "paymentJuels">;

function readOutcomes(logs: readonly EncodedLog[]): Map<Hex, Outcome> {
  const outcomes = new Map<Hex, Outcome>();
  for (const log of logs) {
    const event = tryDecode(log);
    if (event?.name === "RandomWordsFulfilled") outcomes.set(event.requestId, outcomeOf(event));
    else if (event?.name === "ErrorReturned")
      outcomes.set(event.requestId, { outcome: "refused", reason: event.reason });
    else if (event?.name === "RawErrorReturned") {
      outcomes.set(event.requestId, { outcome: "refused", reason: decodeRevertReason(event.reason).text });
    }
  }
  return outcomes;
}

function outcomeOf({ success, paymentJuels }: ChainEventOf<"RandomWordsFulfilled">): Outcome {
  return { outcome: success ? "fulfilled" : "callback failed", paymentJuels: paymentJuels.toString() };
}

function viewProof(proof: Proof): ProofView {
  const point = ([x, y]: readonly [bigint, bigint]): readonly [Hex, Hex] => [word(x), word(y)];
  return {
    pk: point(proof.pk),
    gamma: point(proof.gamma),
    c: word(proof.c),
    s: word(proof.s),
    seed: word(proof.seed),
    uWitness: proof.uWitness,
    cGammaWitness: point(proof.cGammaWitness),
    sHashWitness: point(proof.sHashWitness),
    zInv: word(proof.zInv),
  };
}

function viewCommitment(commitment: Commitment, book: ContractBook): CommitmentView {
  const { blockNum, subId, callbackGasLimit, numWords, sender } = commitment;
  return {
    blockNum: blockNum.toString(),
    subId: subId.toString(),
    callbackGasLimit,
    numWords,
    sender: book.party(sender),
  };
}

function word(value: bigint): Hex {
  return `0x${value.toString(16).padStart(64, "0")}`;
}

/** keccak256(abi.encode(uint256...)). */
function hash(...values: readonly bigint[]): Hex {
  return word(readUint256(keccak256(encodeUint256s(...values))));
}
