import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { Connection } from "../../evm/connection.ts";

/**
 * How long a chain must have rested. Where looks weren't held up by a block being executed, at most 27 ms lay between two queued blocks: 150
 * rounds with nine senders, Anvil's and the service's threads sharing two cores.
 */
const REST_MS = 150;
/** Looks in a row that must find the same head besides: time alone passes while this process isn't run. */
const SAME_LOOKS = 20;
const LOOK_EVERY_MS = 2;
/** Whose balance is asked for is all the same: the answer waits until no block is being executed. */
const ANYONE = `0x${"0".repeat(40)}`;

/** Options of {@link untilHeadIsStill}. */
export interface StillHeadOptions {
  readonly connection: Connection;
  /** Number of the newest block that is known. */
  readonly head: number;
  /** When something was last sent, mined or told of as mined, by `performance.now()`. */
  readonly activeAt: number;
}

/**
 * Waits until a chain that no longer mines by itself has mined what it had still to mine. Nobody may send or mine meanwhile.
 *
 * Anvil 1.7.1 hands its whole pool to the block producer whenever a transaction comes, and the producer makes a block of each such batch, an
 * empty one where earlier batches had all its transactions. `evm_setAutomine(false)` stops new batches, not those that wait: up to 90
 * blocks here. No method tells how many there are, and an empty pool doesn't say that there are none.
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
