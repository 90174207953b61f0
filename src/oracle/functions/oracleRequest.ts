import type { Hex } from "viem";
import type { RawLog } from "../../lib/nodeAnswers.ts";
import { decodeLog, FULFILL_RESULTS, type ChainEventOf } from "../../chainlink/events.ts";
import { decodeFunctionsRequest } from "../../chainlink/functionsRequest.ts";
import type { DrandRound } from "../../beacon/drand.ts";
import { fromHexText } from "../../lib/hex.ts";
import { readUint256, WORD_BYTES } from "../../lib/uint256.ts";

/** Word of the struct Commitment with the gas that the router requires to be left after the callback. */
const GAS_OVERHEAD_AFTER_CALLBACK_WORD = 9;

/** A request to run a source, as announced by FunctionsCoordinator. */
export interface OracleRequest {
  /** 32 bytes. */
  readonly requestId: Hex;
  /** Consumer contract, lower case. */
  readonly client: Hex;
  readonly subscriptionId: bigint;
  /** CBOR of the request. */
  readonly data: Uint8Array;
  readonly dataVersion: number;
  readonly callbackGasLimit: number;
  /** Gas that the router requires to be left after the callback. */
  readonly gasOverheadAfterCallback: number;
  /** The struct Commitment as logged, 352 bytes. It is returned unchanged: the coordinator compares its hash. */
  readonly commitment: Uint8Array;
  readonly blockNumber: bigint;
  /** The round of drand that the request waits for. */
  readonly beacon?: DrandRound | undefined;
}

/** Creates a request from its event. */
export function toOracleRequest(event: ChainEventOf<"OracleRequest">, blockNumber: bigint): OracleRequest {
  const commitment = fromHexText(event.commitment);
  const data = fromHexText(event.data);
  return {
    requestId: event.requestId,
    client: event.requestingContract,
    subscriptionId: event.subscriptionId,
    data,
    dataVersion: event.dataVersion,
    callbackGasLimit: event.callbackGasLimit,
    gasOverheadAfterCallback: Number(readUint256(commitment, GAS_OVERHEAD_AFTER_CALLBACK_WORD * WORD_BYTES)),
    commitment,
    blockNumber,
    beacon: beaconOf(data),
  };
}

function beaconOf(data: Uint8Array): DrandRound | undefined {
  try {
    return decodeFunctionsRequest(data).beacon;
  } catch {
    // It is answered with what is wrong with it.
    return undefined;
  }
}

/** How one item of a report ended on chain. */
export interface FunctionsOutcome {
  readonly result: (typeof FULFILL_RESULTS)[number];
  /** What the consumer's callback returned or reverted with, truncated by the router; `0x` if it was not called. */
  readonly callbackReturnData: Hex;
}

/**
 * Reads the outcome of each item from the router's logs of a transaction, by request id. Items without any log are absent. The caller must
 * check which contract emitted the logs.
 *
 * @throws MalformedLogError when a log doesn't match its topic.
 */
export function readFunctionsOutcomes(logs: readonly RawLog[]): Map<Hex, FunctionsOutcome> {
  const outcomes = new Map<Hex, FunctionsOutcome>();
  for (const log of logs) {
    const event = decodeLog(log);
    if (event?.name !== "RequestProcessed" && event?.name !== "RequestNotProcessed") continue;
    const result = FULFILL_RESULTS[event.resultCode];
    if (result === undefined) continue;
    const callbackReturnData = event.name === "RequestProcessed" ? event.callbackReturnData : "0x";
    outcomes.set(event.requestId, { result, callbackReturnData });
  }
  return outcomes;
}
