import { toFunctionSelector, type Hex } from "viem";
import type { RawLog } from "../evm/client.ts";
import { decodeLog } from "../chainlink/events.ts";
import { decodeRevertReason } from "../chainlink/revertReason.ts";
import { fromHexText, toHexText } from "../lib/hex.ts";
import { encodeProof, PROOF_BYTES } from "../vrf/encoding.ts";
import type { Proof } from "../vrf/proof.ts";
import { AbiWriter } from "./abiWriter.ts";

/** A request for random words as VRFCoordinatorV2 announced it. */
export interface VrfRequest {
  /** 32 bytes. */
  readonly requestId: Hex;
  readonly preSeed: bigint;
  readonly subscriptionId: bigint;
  /** Blocks the request must have, its own included. */
  readonly confirmations: number;
  readonly callbackGasLimit: number;
  readonly numWords: number;
  /** Consumer contract, lower case. */
  readonly sender: Hex;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
}

/** Words of VRFCoordinatorV2's struct RequestCommitment. */
const COMMITMENT_WORDS = 5;
const SELECTOR = fromHexText(
  toFunctionSelector(
    "fulfillRandomWords((uint256[2],uint256[2],uint256,uint256,uint256,address,uint256[2],uint256[2],uint256)[],(uint64,uint64,uint32,uint32,address)[])",
  ),
);

/** Encodes a call of BatchVRFCoordinatorV2 `fulfillRandomWords(Proof[], RequestCommitment[])`. */
export function encodeFulfillment(
  entries: readonly { readonly request: VrfRequest; readonly proof: Proof }[],
): Hex {
  const proofsLength = 32 + entries.length * PROOF_BYTES;
  const writer = new AbiWriter(4 + 2 * 32 + proofsLength + 32 + entries.length * COMMITMENT_WORDS * 32);
  writer
    .raw(SELECTOR)
    .word(2 * 32)
    .word(2 * 32 + proofsLength);
  writer.word(entries.length);
  for (const { proof } of entries) writer.raw(encodeProof(proof));
  writer.word(entries.length);
  for (const { request } of entries) {
    writer.word(request.blockNumber).word(request.subscriptionId);
    writer.word(request.callbackGasLimit).word(request.numWords).word(BigInt(request.sender));
  }
  return toHexText(writer.bytes);
}

/** How one entry of a fulfilment ended. `reason`: the contract's revert text, or the name of its custom error. */
export type VrfOutcome =
  | { readonly kind: "fulfilled"; readonly callbackSucceeded: boolean }
  | { readonly kind: "refused"; readonly reason: string };

/**
 * Reads the outcome of each entry from a transaction's logs, by request id. Entries without any log are absent.
 *
 * @throws MalformedLogError for a log that is not what its topic says.
 */
export function readVrfOutcomes(logs: readonly RawLog[]): Map<Hex, VrfOutcome> {
  const outcomes = new Map<Hex, VrfOutcome>();
  for (const log of logs) {
    const event = decodeLog(log);
    if (event?.name === "RandomWordsFulfilled")
      outcomes.set(event.requestId, { kind: "fulfilled", callbackSucceeded: event.success });
    else if (event?.name === "ErrorReturned")
      outcomes.set(event.requestId, { kind: "refused", reason: event.reason });
    else if (event?.name === "RawErrorReturned")
      outcomes.set(event.requestId, { kind: "refused", reason: nameOfError(event.reason) });
  }
  return outcomes;
}

/** The coordinator reverts without data when it was given too little gas for the callback (`_callWithExactGas`). */
function nameOfError(data: Hex): string {
  if (data === "0x") return "OutOfGas";
  const { name, text } = decodeRevertReason(data);
  return name ?? text;
}
