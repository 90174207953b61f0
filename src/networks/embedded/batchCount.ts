import type { Gate } from "./gate.ts";
import type { RecordedBlock } from "./recorder.ts";

/** Counts what was sent to an Anvil that mines by itself, and what it has made of it. */
export interface BatchCount {
  onBlock(block: RecordedBlock): void;
  /** Something else may have made blocks or batches: nothing is known until the chain rests. */
  doubt(): void;
  /** The chain rests: counting begins anew. */
  rest(): void;
  /**
   * Whether each transaction sent since then has a block of its own. Then, with none in the pool, no batch is queued: a batch comes of at
   * least one transaction, and each makes one block (see `untilHeadIsStill`).
   */
  isEven(): boolean;
}

/** Creates the count of one chain, which is in doubt until its first rest. */
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
