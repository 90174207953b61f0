import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import type { Connection } from "../../evm/connection.ts";
import type { Compactor, CompactorOptions } from "./storage/compactor.ts";
import type { Gate } from "./gate.ts";
import type { BlockKeeping } from "./storage/keepBlocks.ts";
import { readBlock, type ReadBlock, type RecordedBlock } from "./recorder.ts";
import { replaceState } from "./storage/stateFile.ts";

/** Runs a request that removes blocks, such as `evm_revert`. */
export type SetBack = (request: () => Promise<unknown>) => Promise<unknown>;

export interface SetBackOptions extends Pick<
  CompactorOptions,
  "stateFile" | "keeper" | "dump" | "connection" | "gate" | "recorder"
> {
  readonly keeping: BlockKeeping;
  readonly compactor: Pick<Compactor, "alone">;
  readonly batches: BatchCount;
  /** When the newest block was recorded, by `performance.now()`. */
  readonly lastBlockAt: () => number;
  /** @throws {EmbeddedChainError} when the request removed the block that identifies this chain. */
  readonly assertKept: () => Promise<void>;
  /** Called when the file holds the state that the request left behind; the log may restart after this block. */
  readonly onSaved: (block: number) => void;
  /** Called when the state in the process can't be relied on any more; the one on disk can. */
  readonly onBroken: (error: unknown) => void;
  /** Called with the newest block left, before any other request is let through. */
  readonly onSetBack: (head: ReadBlock) => void;
}

/**
 * Creates the runner of requests that remove blocks. Nothing is mined, sent or read meanwhile: Anvil 1.7.1 leaves gaps in its
 * chain when it mines and rolls back at the same time. The resulting state is stored before anybody sees it, so after a crash the
 * chain is either before the request or after it, and the block log never holds blocks of two branches.
 */
export function createSetBack(options: SetBackOptions): SetBack {
  const { connection, gate, recorder, keeper, keeping, stateFile, batches } = options;

  const readPending = async (): Promise<number> => {
    const { pending } = (await connection.request("txpool_status", [])) as { readonly pending: Hex };
    return Number(pending);
  };
  const ensureHead = async (): Promise<void> =>
    recorder.ensure((await readBlock(connection, "latest"))!.number);

  /** Mines what is pending, so that no block is in progress any more. `mines`: whether automine was on until now. */
  const standStill = async (mines: boolean): Promise<void> => {
    await ensureHead();
    const isDone = mines && batches.isEven() && (await readPending()) === 0;
    if (!isDone) {
      // A user may have just turned automine off, with blocks still to come.
      const activeAt = Math.max(options.lastBlockAt(), gate.leftAt("send"), gate.leftAt("mine"));
      await untilHeadIsStill({ connection, head: recorder.head().number, activeAt });
      if (mines && (await readPending()) > 0) await connection.request("anvil_mine", []);
      await ensureHead();
    }
    batches.rest();
    await keeping.keep();
  };

  const store = async ({ hash: headHash }: ReadBlock): Promise<void> => {
    const taken = await options.dump();
    await keeper.run("save", `${stateFile}.next`);
    replaceState(`${stateFile}.next`, stateFile);
    options.onSaved(taken.number);
    const pending = (await connection.request("eth_getBlockByNumber", ["pending", false])) as {
      readonly timestamp: Hex;
    };
    const timestamp = Number(pending.timestamp);
    try {
      // A rollback leaves the EVM without block hashes, and every proof would fail; the swap restores the last 256.
      await keeper.run("swap", { headHash, timestamp, dropHeaders: false });
    } catch (error) {
      options.onBroken(error);
      throw error;
    }
  };

  return (request) =>
    options.compactor.alone(async () => {
      const releases = [gate.hold(["mine", "send"])];
      let mines = false;
      try {
        await gate.drained(["mine"]);
        mines = (await connection.request("anvil_getAutomine", [])) === true;
        if (mines) await connection.request("evm_setAutomine", [false]);
        await standStill(mines);
        releases.push(gate.hold(["read"]));
        await gate.drained(["read"]);
        const { hash, number } = recorder.head();
        const answer = await request();
        const head = (await readBlock(connection, "latest"))!;
        if (head.hash === hash) return answer;
        // At least as many blocks as were removed have been mined anew, and may be announced later.
        if (head.number >= number) batches.doubt();
        await options.assertKept();
        await store(head);
        recorder.goBackTo(head);
        await keeping.cutToChain();
        options.onSetBack(head);
        return answer;
      } finally {
        if (mines) await connection.request("evm_setAutomine", [true]).catch(() => {});
        for (const release of releases) release();
      }
    });
}

/**
 * How long the chain must have been at rest. As long as no check was held up by a block being executed, two queued blocks were at most 27 ms
 * apart (150 rounds with nine senders, the threads of Anvil and of the service sharing two cores).
 */
const REST_MS = 150;
/** Consecutive checks that must also find the same head: time alone passes while this process isn't scheduled. */
const SAME_LOOKS = 20;
const LOOK_EVERY_MS = 2;
/** Any account will do: the balance query waits until no block is being executed. */
const ANYONE = `0x${"0".repeat(40)}`;

interface StillHeadOptions {
  readonly connection: Connection;
  /** Number of the newest known block. */
  readonly head: number;
  /** When something was last sent, mined or announced as mined, by `performance.now()`. */
  readonly activeAt: number;
}

/**
 * Waits until a chain whose automine is off has mined everything it still had to mine. Nobody may send or mine meanwhile.
 *
 * Anvil 1.7.1 hands its whole pool to the block producer whenever a transaction arrives, and the producer makes a block of each such batch,
 * an empty one if earlier batches contained all its transactions. `evm_setAutomine(false)` stops new batches but not the queued ones: up to
 * 90 blocks in our measurements. No method returns how many there are, and an empty pool doesn't mean that there are none.
 */
export async function untilHeadIsStill({ connection, ...known }: StillHeadOptions): Promise<void> {
  let { head, activeAt } = known;
  for (let looks = 1; ; looks += 1) {
    await connection.request("eth_getBalance", [ANYONE, "latest"]);
    const seen = Number(await connection.request("eth_blockNumber", []));
    if (seen !== head) {
      head = seen;
      activeAt = performance.now();
      looks = 0;
    }
    const isRested = performance.now() - activeAt >= REST_MS;
    if (isRested && looks >= SAME_LOOKS) return;
    if (!isRested) await sleep(LOOK_EVERY_MS);
  }
}

/** Counts the transactions sent to an Anvil that mines automatically, and the blocks it has mined from them. */
type BatchCount = ReturnType<typeof createBatchCount>;

/** Creates the count of one chain, which is in doubt until the chain is first at rest. */
export function createBatchCount(gate: Pick<Gate, "entered">) {
  let isKnown = false;
  let sent = 0;
  let mined = 0;
  let blocks = 0;
  let transactions = 0;

  return {
    onBlock({ header }: RecordedBlock): void {
      blocks += 1;
      transactions += (header as { readonly transactions: readonly unknown[] }).transactions.length;
    },
    /** Something else may have made blocks or batches: the count is unknown until the chain is at rest. */
    doubt(): void {
      isKnown = false;
    },
    /** The chain is at rest: counting restarts. */
    rest(): void {
      isKnown = true;
      [sent, mined, blocks, transactions] = [gate.entered("send"), gate.entered("mine"), 0, 0];
    },
    /**
     * Whether each transaction sent since the last rest has a block of its own. If so, and the pool is empty, no batch is queued: a batch
     * comes from at least one transaction, and each transaction makes one block (see `untilHeadIsStill`).
     */
    isEven: (): boolean =>
      isKnown &&
      gate.entered("mine") === mined &&
      gate.entered("send") - sent === blocks &&
      blocks === transactions,
  };
}
