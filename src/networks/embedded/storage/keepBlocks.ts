import { createMutex } from "../../../lib/mutex.ts";
import { BrokenConnectionError } from "../../../evm/connection.ts";
import { messageOf } from "../../../lib/errors.ts";
import { EmbeddedChainError } from "../process/anvil.ts";
import type { CompactorOptions } from "./compactor.ts";
import { ForgottenError } from "./history.ts";
import { ChainDownError, readBlock, type RecordedBlock } from "../recorder.ts";

/**
 * Blocks that may be recorded but not kept yet; Anvil forgets them after `KEPT_TRANSACTION_BLOCKS`. While keeping fails, nothing more is
 * sent to the chain from here on; the rest is for what is in flight then.
 */
const MAX_UNKEPT_BLOCKS = 32;
const KEEP_EVERY_BLOCKS = 12;
/** Delay after which an idle chain's last blocks are kept. */
const KEEP_IDLE_MS = 1_000;
/** Delay after which a failed keep is tried again. */
const RETRY_MS = 500;
/** Interval between restarts of the node for blocks that it has forgotten: one doesn't help before the history can be written. */
const REFETCH_INTERVAL_MS = 30_000;

/** Ensures that all blocks are written to the history before Anvil forgets them. */
export interface BlockKeeping {
  /** Keeps all blocks so far. Calls run one at a time: each continues where the previous one ended. */
  keep(this: void): Promise<void>;
  /** Takes note of a block; the next may follow when the promise resolves. */
  onBlock(block: RecordedBlock): Promise<void>;
  /** Continues with a process that was started from the state of this block: finds how far blocks are kept, and keeps the rest. */
  goOn(stored: number): Promise<void>;
  /** Deletes the kept blocks that the chain no longer has. */
  cutToChain(): Promise<void>;
  /** Takes note that blocks after this one are no longer part of the chain. */
  cutAfter(block: number): void;
  /** Says in words why the blocks can't be kept, and the chain is paused; `undefined` while it isn't. */
  pause(this: void): string | undefined;
  /** @throws {UnkeptError} while keeping fails and has not reached this block. */
  assertKept(this: void, through: number): void;
  /** Starts no more background work. */
  close(): void;
}

/** Blocks can't be kept at the moment, for a reason that has been reported. They are in the block log, and are kept later. */
export class UnkeptError extends EmbeddedChainError {
  constructor(cause: unknown) {
    super(
      `the chain's history can't be written (${messageOf(cause)}): check its disk, and whether another program has locked history.sqlite`,
      cause,
    );
  }
}

export interface BlockKeepingOptions extends Pick<
  CompactorOptions,
  "gate" | "keeper" | "connection" | "recorder" | "isDown"
> {
  /** The last block that is certainly kept. */
  readonly kept: number;
  /** Called when the node has forgotten blocks that aren't kept: only a start from the block log brings them back. */
  readonly onForgotten: (error: UnkeptError) => void;
  /** Called with an error that isn't an {@link UnkeptError}, and once with that until blocks are kept again. */
  readonly onError: (error: unknown) => void;
}

/** Creates the job that keeps one chain's blocks. */
export function keepBlocks(options: BlockKeepingOptions): BlockKeeping {
  const { keeper, connection, recorder, gate, isDown, onError } = options;
  let { kept } = options;
  let timer: NodeJS.Timeout | undefined;
  /** How far an earlier process kept blocks is known. */
  let isKnown = kept < 0;
  let isClosed = false;
  /** Why keeping fails. */
  let trouble: UnkeptError | undefined;
  /** Ends the pause. */
  let release: (() => void) | undefined;
  let refetchedAt = -Infinity;

  const inTurn = createMutex();
  const keep = (): Promise<void> =>
    inTurn(async () => {
      if (isDown()) throw new ChainDownError();
      try {
        if (!isKnown) await findKept();
        const { number } = recorder.head();
        if (number > kept) kept = await keeper.run("keep", kept + 1, number);
        trouble = undefined;
        release?.();
        release = undefined;
      } catch (error) {
        throw isDown() || error instanceof BrokenConnectionError ? error : fail(error);
      }
    });
  const fail = (cause: unknown): UnkeptError => {
    const isNew = trouble === undefined;
    trouble = new UnkeptError(cause);
    if (isNew) onError(trouble);
    pauseWhenDue();
    keepAfter(RETRY_MS);
    if (cause instanceof ForgottenError && performance.now() - refetchedAt >= REFETCH_INTERVAL_MS) {
      refetchedAt = performance.now();
      options.onForgotten(trouble);
    }
    return trouble;
  };
  const pauseWhenDue = (): void => {
    if (recorder.head().number - kept >= MAX_UNKEPT_BLOCKS && !isClosed)
      release ??= gate.hold(["send", "mine"]);
  };
  const keepInBackground = async (): Promise<void> => {
    await keep().catch((error: unknown) => {
      if (!(error instanceof UnkeptError)) onError(error);
    });
    if (trouble !== undefined) keepAfter(RETRY_MS);
  };
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
  const findKept = async (): Promise<void> => {
    const newest = await findNewest();
    isKnown = true;
    if (newest !== undefined && newest > kept) kept = newest;
    else if (newest !== undefined && newest < kept)
      onError(
        new EmbeddedChainError(
          `the history lacks the blocks ${newest + 1} to ${kept}: their contents can no longer be looked up`,
        ),
      );
  };
  const keepAfter = (ms: number): void => {
    clearTimeout(timer);
    if (!isClosed) timer = setTimeout(() => void keepInBackground(), ms).unref();
  };
  keepAfter(KEEP_IDLE_MS);

  return {
    keep,
    async onBlock({ number }) {
      if (trouble !== undefined) {
        // Until the retry succeeds, the block log has the block.
        pauseWhenDue();
        return;
      }
      keepAfter(KEEP_IDLE_MS);
      if (number - kept < KEEP_EVERY_BLOCKS) return;
      const done = keepInBackground();
      if (number - kept >= MAX_UNKEPT_BLOCKS) await done;
    },
    goOn(stored) {
      kept = Math.min(kept, stored);
      isKnown = false;
      return keepInBackground();
    },
    cutToChain: () =>
      inTurn(async () => {
        kept = Math.min(kept, (await findNewest()) ?? recorder.head().number);
        isKnown = true;
      }),
    cutAfter(block) {
      if (kept > block) kept = block;
    },
    pause: () => (release === undefined ? undefined : trouble?.message),
    assertKept(through) {
      if (trouble !== undefined && kept < through) throw trouble;
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
