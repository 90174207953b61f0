import { toFunctionSelector, type Hex } from "viem";
import type { RawLog } from "../../lib/nodeAnswers.ts";
import { decodeLog } from "../../chainlink/events.ts";
import { vrfVersionOf } from "../../chainlink/vrfVersion.ts";
import type { VrfVersion } from "../../domain/vocabulary.ts";
import { decodeRevertReason } from "../../chainlink/revertReason.ts";
import { fromHexText, toHexText } from "../../lib/hex.ts";
import { encodeProof, PROOF_BYTES, type Proof } from "../../vrf/proof.ts";
import { AbiWriter, encodedBytesLength } from "../../lib/uint256.ts";

/** A request for random words as announced by the coordinator. */
export interface VrfRequest {
  /** 32 bytes. */
  readonly requestId: Hex;
  readonly preSeed: bigint;
  readonly subscriptionId: bigint;
  /** Blocks required before an answer, including the request's own. */
  readonly confirmations: number;
  readonly callbackGasLimit: number;
  readonly numWords: number;
  /** Consumer contract, lower case. */
  readonly sender: Hex;
  /** VRF v2.5 only, as normalised by the coordinator. */
  readonly extraArgs?: Hex;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
}

const PROOF = "(uint256[2],uint256[2],uint256,uint256,uint256,address,uint256[2],uint256[2],uint256)";
const SELECTORS: Readonly<Record<VrfVersion, Uint8Array>> = {
  v2: selectorOf(`fulfillRandomWords(${PROOF}[],(uint64,uint64,uint32,uint32,address)[])`),
  "v2.5": selectorOf(`fulfillRandomWords(${PROOF}[],(uint64,uint256,uint32,uint32,address,bytes)[])`),
};
/** Words of the struct RequestCommitment before its extra arguments. */
const COMMITMENT_WORDS = 5;

/**
 * Encodes a call of the batch contract's `fulfillRandomWords(Proof[], RequestCommitment[])` for the requests' VRF version; all requests
 * of a coordinator have the same version.
 */
export function encodeFulfillment(
  entries: readonly { readonly request: VrfRequest; readonly proof: Proof }[],
): Hex {
  const version = vrfVersionOf(entries[0]?.request ?? {});
  const extraArgs = entries.map(({ request }) => fromHexText(request.extraArgs ?? "0x"));
  const commitmentBytes = extraArgs.map((args) =>
    version === "v2" ? COMMITMENT_WORDS * 32 : (COMMITMENT_WORDS + 1) * 32 + encodedBytesLength(args),
  );
  // Structs with a dynamic member are located by their offsets.
  const offsetsLength = version === "v2" ? 0 : entries.length * 32;
  const proofsLength = 32 + entries.length * PROOF_BYTES;
  const commitmentsLength = commitmentBytes.reduce((sum, bytes) => sum + bytes, 32 + offsetsLength);
  const writer = new AbiWriter(4 + 2 * 32 + proofsLength + commitmentsLength);
  writer
    .raw(SELECTORS[version])
    .word(2 * 32)
    .word(2 * 32 + proofsLength);
  writer.word(entries.length);
  for (const { proof } of entries) writer.raw(encodeProof(proof));
  writer.word(entries.length);
  if (version !== "v2") {
    let offset = offsetsLength;
    for (const bytes of commitmentBytes) {
      writer.word(offset);
      offset += bytes;
    }
  }
  for (const [index, { request }] of entries.entries()) {
    writer.word(request.blockNumber).word(request.subscriptionId);
    writer.word(request.callbackGasLimit).word(request.numWords).word(BigInt(request.sender));
    if (version !== "v2") writer.word((COMMITMENT_WORDS + 1) * 32).dynamic(extraArgs[index]!);
  }
  return toHexText(writer.bytes);
}

function selectorOf(signature: string): Uint8Array {
  return fromHexText(toFunctionSelector(signature));
}

/** How one entry of a fulfilment ended. `reason`: the contract's revert text, or the name of its custom error. */
export type VrfOutcome =
  | { readonly kind: "fulfilled"; readonly callbackSucceeded: boolean }
  | { readonly kind: "refused"; readonly reason: string };

/**
 * Reads the outcome of each entry from the coordinator's and the batch contract's logs of a transaction, by request id. Entries without any
 * log are absent. The caller must check which contracts emitted the logs.
 *
 * @throws MalformedLogError when a log doesn't match its topic.
 */
export function readVrfOutcomes(logs: readonly RawLog[]): Map<Hex, VrfOutcome> {
  const outcomes = new Map<Hex, VrfOutcome>();
  // A callback may have the batch contract try an earlier entry again, which has ended by then.
  const refuse = (requestId: Hex, reason: string): void => {
    if (!outcomes.has(requestId)) outcomes.set(requestId, { kind: "refused", reason });
  };
  for (const log of logs) {
    const event = decodeLog(log);
    if (event?.name === "RandomWordsFulfilled")
      outcomes.set(event.requestId, { kind: "fulfilled", callbackSucceeded: event.success });
    else if (event?.name === "ErrorReturned") refuse(event.requestId, event.reason);
    else if (event?.name === "RawErrorReturned") refuse(event.requestId, nameOfError(event.reason));
  }
  return outcomes;
}

/** The coordinator reverts without data if it was given too little gas for the callback (`_callWithExactGas`). */
function nameOfError(data: Hex): string {
  if (data === "0x") return "OutOfGas";
  const { name, text } = decodeRevertReason(data);
  return name ?? text;
}
