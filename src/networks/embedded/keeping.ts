import type { Connection } from "../../evm/connection.ts";
import { EmbeddedChainError } from "./anvil.ts";
import type { Keeper } from "./keeper.ts";
import { ChainDownError, readBlock } from "./recorder.ts";
import type { RecordedBlock, Recorder } from "./recorder.ts";

/** Blocks that may be recorded and not kept yet; Anvil forgets them after `KEPT_TRANSACTION_BLOCKS`. */
const MAX_UNKEPT_BLOCKS = 32;
const KEEP_EVERY_BLOCKS = 12;
/** An idle chain's last blocks are kept after this. */
const KEEP_IDLE_MS = 1_000;

/** Sees to it that all blocks are kept before Anvil forgets them. */
export interface Keeping {
  /** Keeps all blocks up to now. One after the other: each goes on where the one before has ended. */
  keep(this: void): Promise<void>;
  /** Takes word of a block; the next may come when the promise resolves. */
  onBlock(block: RecordedBlock): Promise<void>;
  /** Finds how far an earlier process has kept blocks: of those replayed, Anvil may have forgotten the first already. */
  goOn(): Promise<void>;
  /** Forgets the kept blocks that the chain no longer has. */
  cutToChain(): Promise<void>;
  /** Blocks after this one are no longer the chain's. */
  cutAfter(block: number): void;
  /** Starts nothing more by itself. */
  close(): void;
}

/** Blocks are stored and not kept: part of the history was lost. */
class HistoryGapError extends EmbeddedChainError {
  constructor(first: number, last: number) {
    super(`the history lacks the blocks ${first} to ${last}: what they held can't be looked up any more`);
  }
}

/** Options of {@link createKeeping}. */
export interface KeepingOptions {
  readonly keeper: Keeper;
  readonly connection: Connection;
  readonly recorder: Recorder;
  /** Whether the chain is being started again, and doesn't have all of its blocks yet. */
  readonly isDown: () => boolean;
  /** The last block that is surely kept. */
  readonly kept: number;
  readonly onError: (error: unknown) => void;
}

/** Makes what has the blocks of one chain kept. */
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
  /** The newest kept block that the chain has; newer ones are forgotten. Those whose headers Anvil has dropped can't be others. */
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
