import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { Connection } from "../../evm/connection.ts";

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

export interface StillHeadOptions {
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
