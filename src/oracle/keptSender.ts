import type { Hex } from "viem";
import type { ChainClient } from "../evm/client.ts";
import type { Sender } from "../evm/sender.ts";

/**
 * Wraps a sender so that no receipt of a replaced block gets through: the oracle forgets the answers of replaced blocks when it hears of
 * a reorganisation, and one that it heard of after that would keep the request unanswered for good.
 *
 * @param options.reorgs number of reorganisations that the oracle has heard of.
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

/** A reorganisation took a transaction's block while its receipt was under way. */
export class ReplacedBlockError extends Error {
  constructor(transactionHash: Hex, blockNumber: bigint) {
    super(`a reorganisation took block ${blockNumber}, which held ${transactionHash}`);
  }
}
