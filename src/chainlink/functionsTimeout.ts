import { concatHex, getAbiItem, numberToHex, size, slice, toFunctionSelector } from "viem";
import type { Hex } from "viem";
import { functionsRouterAbi } from "./contracts/abi.ts";

/** Twice what was used, for one request 45,000 and for twenty 346,000 (after refunds, which the limit must have room for). */
const GAS_PER_REQUEST = 40_000n;
const GAS_PER_TRANSACTION = 60_000n;

const SELECTOR = toFunctionSelector(getAbiItem({ abi: functionsRouterAbi, name: "timeoutRequests" }));

/** Encodes FunctionsRouter.timeoutRequests for commitments as the OracleRequest logs have them, 352 bytes each. */
export function encodeTimeouts(commitments: readonly Hex[]): Hex {
  const word = (value: number): Hex => numberToHex(value, { size: 32 });
  return concatHex([SELECTOR, word(32), word(commitments.length), ...commitments]);
}

/** Gas that a transaction for so many requests may take at most. */
export function timeoutGas(requests: number): bigint {
  return GAS_PER_TRANSACTION + GAS_PER_REQUEST * BigInt(requests);
}

/** Unix time in seconds from which on a request may be timed out: the commitment's last word. */
export function timeoutOf(commitment: Hex): number {
  return Number(slice(commitment, size(commitment) - 32));
}
