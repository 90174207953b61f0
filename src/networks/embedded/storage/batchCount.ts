import type { Gate } from "../gate.ts";
import type { RecordedBlock } from "../recorder.ts";

/** Counts the transactions sent to an Anvil that mines automatically, and the blocks it has mined from them. */
export interface BatchCount {
  onBlock(block: RecordedBlock): void;
  /** Something else may have made blocks or batches: the count is unknown until the chain is at rest. */
  doubt(): void;
  /** The chain is at rest: counting restarts. */
  rest(): void;
  /**
   * Whether each transaction sent since the last rest has a block of its own. If so, and the pool is empty, no batch is queued: a batch
   * comes from at least one transaction, and each transaction makes one block (see `untilHeadIsStill`).
   */
  isEven(): boolean;
}

/** Creates the count of one chain, which is in doubt until the chain is first at rest. */
export function createBatchCount(gate: Pick<Gate, "entered">): BatchCount {
  let isKnown = false;
  let sent = 0;
  let mined = 0;
  let blocks = 0;
  let transactions = 0;

  return {
    onBlock({ header }) {
      blocks += 1;
      transactions += (header as { readonly transactions: readonly unknown[] }).transactions.length;
    },
    doubt() {
      isKnown = false;
    },
    rest() {
      isKnown = true;
      [sent, mined, blocks, transactions] = [gate.entered("send"), gate.entered("mine"), 0, 0];
    },
    isEven: () =>
      isKnown &&
      gate.entered("mine") === mined &&
      gate.entered("send") - sent === blocks &&
      blocks === transactions,
  };
}
