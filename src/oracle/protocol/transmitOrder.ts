import type { Hex } from "viem";
import { fromHexText, toHexText } from "../../lib/hex.ts";
import { keccak256 } from "../../lib/keccak.ts";

/**
 * Returns the order in which nodes transmit a request's report: a permutation of 0 … n − 1 that follows from the request id, so that
 * every node knows it and no node chooses it. Fisher–Yates, with keccak256(requestId ‖ step) as the source; n is at most 31, so the bias
 * of taking 256 bits modulo n is below 2⁻²⁵⁰.
 */
export function transmitOrder(requestId: Hex, nodes: number): readonly number[] {
  const order = Array.from({ length: nodes }, (_, index) => index);
  const id = fromHexText(requestId);
  for (let last = nodes - 1; last > 0; last -= 1) {
    const hash = keccak256(Buffer.concat([id, Uint8Array.of(last)]));
    const chosen = Number(BigInt(toHexText(hash)) % BigInt(last + 1));
    [order[last], order[chosen]] = [order[chosen]!, order[last]!];
  }
  return order;
}
