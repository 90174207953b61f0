import type { Hex } from "viem";
import type { Beacon } from "../../lib/vocabulary.ts";

/** Random word of a dry run. Any word will do; a constant one makes the result reproducible. */
export const DRY_RUN_WORD: Hex = `0x${"5a".repeat(32)}`;

/** Returns what a function's dry run gets as the last of its `bytesArgs`: a word in place of that of a round of drand. */
export function dryRunBytesArgs(beacon: Beacon = "none"): readonly Hex[] {
  return beacon === "none" ? [] : [DRY_RUN_WORD];
}
