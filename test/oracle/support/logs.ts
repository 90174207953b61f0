import type { Hex } from "viem";
import type { RawLog } from "../../../src/lib/nodeAnswers.ts";

/** Returns a 32-byte id made from a number. */
export function idOf(value: bigint): Hex {
  return `0x${value.toString(16).padStart(64, "0")}`;
}

/** Returns a log with these topics and data; the rest is arbitrary. */
export function logOf(topics: readonly Hex[], data: Hex): RawLog {
  return {
    address: "0x00000000000000000000000000000000000000ff",
    topics,
    data,
    blockNumber: 9n,
    blockHash: idOf(9n),
    transactionHash: idOf(99n),
    logIndex: 0,
  };
}
