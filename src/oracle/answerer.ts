import type { Hex } from "viem";
import type { PendingRequest } from "./status.ts";
import type { WatchedBlock } from "../evm/blockReader.ts";

/** Answers requests of one kind on a chain. All its state follows from the chain's logs. */
export interface Answerer {
  /** Contracts whose logs it reads, lower case. */
  readonly addresses: readonly Hex[];
  /**
   * Notes the new head, then reads the block's logs, then begins what can begin: what a log means may depend on the head, never the reverse.
   * `live`: all blocks that predate the start have been read, so open requests may be acted upon.
   */
  onBlock(block: WatchedBlock, live: boolean): void;
  /** Returns the first block to reread, if earlier than `firstReplaced`. */
  onReorg(firstReplaced: bigint): bigint | undefined;
  pending(): PendingRequest[];
}
