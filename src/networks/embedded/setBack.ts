import type { Hex } from "viem";
import type { Connection } from "../../evm/connection.ts";
import type { BatchCount } from "./batchCount.ts";
import type { Compactor } from "./compactor.ts";
import type { Gate } from "./gate.ts";
import type { Keeper } from "./keeper.ts";
import type { Keeping } from "./keeping.ts";
import { readBlock } from "./recorder.ts";
import type { ReadBlock, Recorder } from "./recorder.ts";
import { replaceState } from "./stateFile.ts";
import { untilHeadIsStill } from "./stillHead.ts";

/** Runs a request that takes blocks back, as `evm_revert` does. */
export type SetBack = (request: () => Promise<unknown>) => Promise<unknown>;

/** Options of {@link createSetBack}. */
export interface SetBackOptions {
  readonly connection: Connection;
  readonly gate: Gate;
  readonly recorder: Recorder;
  readonly keeper: Keeper;
  readonly keeping: Keeping;
  readonly compactor: Pick<Compactor, "alone">;
  readonly batches: BatchCount;
  /** When the newest block was told of, by `performance.now()`. */
  readonly lastBlockAt: () => number;
  /** Path of the stored state. */
  readonly stateFile: string;
  /** @throws {EmbeddedChainError} when the request took away the block that tells this chain from others. */
  readonly assertKept: () => Promise<void>;
  /** Called when the file holds the state that the request has left, and the log may begin anew after this block. */
  readonly onSaved: (block: number) => void;
  /** Called when the state in the process can't be relied on any more; the one on disk can. */
  readonly onBroken: (error: unknown) => void;
  /** Called with the newest block that is left, before any request is let through. */
  readonly onSetBack: (head: ReadBlock) => void;
}

/**
 * Creates what runs the requests that take blocks back. Nothing is mined, sent or read meanwhile: Anvil 1.7.1 leaves holes in
 * its chain where it mines and goes back at once. The state that is left is stored before anybody sees it, so a crash leads back
 * either to before the request or to after it, and the block log never holds blocks of two branches.
 */
export function createSetBack(options: SetBackOptions): SetBack {
  const { connection, gate, recorder, keeper, keeping, stateFile, batches } = options;

  const readPending = async (): Promise<number> => {
    const { pending } = (await connection.request("txpool_status", [])) as { readonly pending: Hex };
    return Number(pending);
  };
  const ensureHead = async (): Promise<void> =>
    recorder.ensure((await readBlock(connection, "latest"))!.number);

  /** Mines what is on its way, so that no block is under way any more. Gives back whether the chain mines by itself. */
  const standStill = async (): Promise<boolean> => {
    await gate.drained(["mine"]);
    const mines = (await connection.request("anvil_getAutomine", [])) === true;
    if (mines) await connection.request("evm_setAutomine", [false]);
    await ensureHead();
    const isDone = mines && batches.isEven() && (await readPending()) === 0;
    if (!isDone) {
      // Somebody else may have turned it off just now, with blocks still to come.
      const activeAt = Math.max(options.lastBlockAt(), gate.leftAt("send"), gate.leftAt("mine"));
      await untilHeadIsStill({ connection, head: recorder.head().number, activeAt });
      if (mines && (await readPending()) > 0) await connection.request("anvil_mine", []);
      await ensureHead();
    }
    batches.rest();
    await keeping.keep();
    return mines;
  };

  const store = async ({ hash: headHash }: ReadBlock): Promise<void> => {
    const taken = await keeper.run("dump");
    await keeper.run("save", `${stateFile}.next`);
    replaceState(`${stateFile}.next`, stateFile);
    options.onSaved(taken.number);
    const pending = (await connection.request("eth_getBlockByNumber", ["pending", false])) as {
      readonly timestamp: Hex;
    };
    const timestamp = Number(pending.timestamp);
    try {
      // Going back leaves the EVM without block hashes, and every proof would fail; the exchange tells it the last 256 again.
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
        mines = await standStill();
        releases.push(gate.hold(["read"]));
        await gate.drained(["read"]);
        const { hash, number } = recorder.head();
        const answer = await request();
        const head = (await readBlock(connection, "latest"))!;
        if (head.hash === hash) return answer;
        // As many as were taken back, or more, were made anew, and word of them may come later.
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
