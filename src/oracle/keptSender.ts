import type { Hex } from "viem";
import type { ChainClient } from "../evm/client.ts";
import type { Sender } from "../evm/sender.ts";

/**
 * Wraps a sender so that it never returns a receipt from a replaced block. On a reorg the oracle forgets answers in replaced blocks; an
 * answer it learned of only afterwards would leave the request unanswered for good.
 *
 * @param options.reorgs number of reorgs that the oracle has seen.
 * @returns a sender whose `send` rejects with {@link ReplacedBlockError} instead.
 */
export function keepOffReplaced(
  sender: Sender,
  { client, reorgs }: { readonly client: Pick<ChainClient, "getHead">; readonly reorgs: () => number },
): Sender {
  return {
    ...sender,
    async send(call, payload) {
      let known = reorgs();
      const receipt = await sender.send(call, payload);
      const { blockNumber, blockHash, transactionHash } = receipt;
      while (reorgs() !== known) {
        known = reorgs();
        const present = await client.getHead(blockNumber);
        if (present?.hash !== blockHash) throw new ReplacedBlockError(transactionHash, blockNumber);
      }
      return receipt;
    },
  };
}

/** A reorg removed a transaction's block while its receipt was in flight. */
export class ReplacedBlockError extends Error {
  constructor(transactionHash: Hex, blockNumber: bigint) {
    super(`a reorg removed block ${blockNumber}, which held ${transactionHash}`);
  }
}
