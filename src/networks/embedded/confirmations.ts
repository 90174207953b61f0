import { toQuantity } from "../../lib/nodeAnswers.ts";
import type { ChainClient } from "../../evm/client.ts";
import { decodeLog } from "../../chainlink/events.ts";
import type { ChainWatcher } from "../../evm/watcher.ts";

/**
 * Mines the blocks that a request for more than one confirmation waits for: an embedded chain makes a block only when there
 * is a transaction.
 *
 * @returns a function that stops it.
 */
export function mineConfirmations(options: {
  readonly client: ChainClient;
  readonly watcher: ChainWatcher;
  readonly vrfCoordinator: `0x${string}`;
  readonly fromBlock: bigint;
  readonly onError: (error: unknown) => void;
}): () => void {
  let wantedUpTo = 0n;
  return options.watcher.follow({
    addresses: () => [options.vrfCoordinator],
    fromBlock: options.fromBlock,
    async onBlock(block) {
      for (const log of block.logs) {
        const event = decodeLog(log);
        if (event?.name !== "RandomWordsRequested") continue;
        const last = block.number + BigInt(event.minimumRequestConfirmations) - 1n;
        if (last > wantedUpTo) wantedUpTo = last;
      }
      if (wantedUpTo <= block.number) return;
      const head = (await options.client.getHead("latest"))?.number ?? block.number;
      if (wantedUpTo <= head) return;
      await options.client.request("anvil_mine", [toQuantity(wantedUpTo - head)]);
    },
  });
}
