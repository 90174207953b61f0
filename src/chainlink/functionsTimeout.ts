import { concatHex, getAbiItem, numberToHex, size, slice, toFunctionSelector, type Hex } from "viem";
import { functionsRouterAbi } from "./contracts/abi.ts";

/** About twice the measured gas: 45,000 for one request, 346,000 for twenty (after refunds, which the limit must cover as well). */
const GAS_PER_REQUEST = 40_000n;
const GAS_PER_TRANSACTION = 60_000n;

const SELECTOR = toFunctionSelector(getAbiItem({ abi: functionsRouterAbi, name: "timeoutRequests" }));

/** Encodes FunctionsRouter.timeoutRequests for commitments as they are in the OracleRequest logs, 352 bytes each. */
export function encodeTimeouts(commitments: readonly Hex[]): Hex {
  const word = (value: number): Hex => numberToHex(value, { size: 32 });
  return concatHex([SELECTOR, word(32), word(commitments.length), ...commitments]);
}

/** Returns the gas limit of a transaction for this number of requests. */
export function timeoutGas(requests: number): bigint {
  return GAS_PER_TRANSACTION + GAS_PER_REQUEST * BigInt(requests);
}

/** Returns the Unix time in seconds from which a request may be timed out: the commitment's last word. */
export function timeoutOf(commitment: Hex): number {
  return Number(slice(commitment, size(commitment) - 32));
}
