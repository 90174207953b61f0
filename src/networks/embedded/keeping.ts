import type { Connection } from "../../evm/connection.ts";
import { EmbeddedChainError } from "./anvil.ts";
import type { Keeper } from "./keeper.ts";
import { ChainDownError, readBlock } from "./recorder.ts";
import type { RecordedBlock, Recorder } from "./recorder.ts";

/** Blocks that may be recorded but not kept yet; Anvil forgets them after `KEPT_TRANSACTION_BLOCKS`. */
const MAX_UNKEPT_BLOCKS = 32;
const KEEP_EVERY_BLOCKS = 12;
/** Delay after which an idle chain's last blocks are kept. */
const KEEP_IDLE_MS = 1_000;

/** Ensures that all blocks are written to the history before Anvil forgets them. */
export interface Keeping {
  /** Keeps all blocks so far. Calls run one at a time: each continues where the previous one ended. */
  keep(this: void): Promise<void>;
  /** Takes note of a block; the next may follow when the promise resolves. */
  onBlock(block: RecordedBlock): Promise<void>;
  /** Finds how far an earlier process kept blocks: Anvil may already have forgotten the first of the replayed ones. */
  goOn(): Promise<void>;
  /** Deletes the kept blocks that the chain no longer has. */
  cutToChain(): Promise<void>;
  /** Takes note that blocks after this one are no longer part of the chain. */
  cutAfter(block: number): void;
  /** Starts no more background work. */
  close(): void;
}

/** Blocks are stored but not kept: part of the history was lost. */
class HistoryGapError extends EmbeddedChainError {
  constructor(first: number, last: number) {
    super(`the history lacks the blocks ${first} to ${last}: their contents can no longer be looked up`);
  }
}

export interface KeepingOptions {
  readonly keeper: Keeper;
  readonly connection: Connection;
  readonly recorder: Recorder;
  /** Whether the chain is restarting and doesn't have all of its blocks yet. */
  readonly isDown: () => boolean;
  /** The last block that is certainly kept. */
  readonly kept: number;
  readonly onError: (error: unknown) => void;
}

/** Creates the job that keeps one chain's blocks. */
export function createKeeping({
  keeper,
  connection,
  recorder,
  isDown,
  onError,
  ...rest
}: KeepingOptions): Keeping {
  let { kept } = rest;
  let tail: Promise<void> = Promise.resolve();
  let idle: NodeJS.Timeout | undefined;

  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const done = tail.then(work);
    tail = done.catch(() => {});
    return done;
  };
  const keep = (): Promise<void> =>
    inTurn(async () => {
      const { number } = recorder.head();
      if (isDown()) throw new ChainDownError();
      if (number > kept) kept = await keeper.run("keep", kept + 1, number);
    });
  /**
   * Returns the newest kept block that the chain has, deleting newer ones. A block whose header Anvil has dropped is too old to
   * have been replaced.
   */
  const findNewest = async (): Promise<number | undefined> => {
    for (let last = recorder.head().number; ;) {
      const known = await keeper.run("cutAfter", last);
      const block = known && (await readBlock(connection, known.number));
      if (known === undefined || block === undefined || block.hash === known.hash) return known?.number;
      last = known.number - 1;
    }
  };
  const keepSoon = (): void => {
    clearTimeout(idle);
    idle = setTimeout(() => void keep().catch(onError), KEEP_IDLE_MS).unref();
  };
  keepSoon();

  return {
    keep,
    async onBlock({ number }) {
      keepSoon();
      if (number - kept < KEEP_EVERY_BLOCKS) return;
      const done = keep().catch(onError);
      if (number - kept >= MAX_UNKEPT_BLOCKS) await done;
    },
    goOn: () =>
      inTurn(async () => {
        const newest = await findNewest();
        if (newest !== undefined && newest > kept) kept = newest;
        else if (newest !== undefined && newest < kept) onError(new HistoryGapError(newest + 1, kept));
      }),
    cutToChain: () =>
      inTurn(async () => {
        kept = Math.min(kept, (await findNewest()) ?? recorder.head().number);
      }),
    cutAfter(block) {
      if (kept > block) kept = block;
    },
    close: () => clearTimeout(idle),
  };
}
