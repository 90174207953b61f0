import { parseObject, parseQuantity, toQuantity } from "../lib/nodeAnswers.ts";
import type { ChainClient } from "./client.ts";

/**
 * Finds the blocks in which `block.number` had a given value, on networks where it is the parent chain's: on Arbitrum, contracts see
 * the number of an Ethereum block, which stays the same for hundreds of Arbitrum blocks and which nodes report as `l1BlockNumber`.
 * Takes about 60 calls.
 *
 * @returns the first and the last of them; `undefined` when the network has no such numbers, or no block with this one.
 */
export async function findBlocksOfParent(
  client: Pick<ChainClient, "request">,
  parentNumber: bigint,
): Promise<{ readonly first: bigint; readonly last: bigint } | undefined> {
  const read = async (block: string) => {
    const answer = await client.request("eth_getBlockByNumber", [block, false]);
    const { number, l1BlockNumber } = parseObject(answer, "block");
    if (l1BlockNumber === undefined) return undefined;
    return {
      number: parseQuantity(number, "block number"),
      parent: parseQuantity(l1BlockNumber, "number of the parent's block"),
    };
  };
  const latest = await read("latest");
  if (latest === undefined || latest.parent < parentNumber) return undefined;
  /** Returns the first block whose parent number is at least this high, or the one after the latest. */
  const firstFrom = async (parent: bigint): Promise<bigint> => {
    let [low, high] = [0n, latest.number + 1n];
    while (low < high) {
      const middle = (low + high) / 2n;
      // On a chain that changed its software, blocks from before the numbers were reported precede all others.
      const found = (await read(toQuantity(middle)))?.parent ?? 0n;
      if (found >= parent) high = middle;
      else low = middle + 1n;
    }
    return low;
  };
  const first = await firstFrom(parentNumber);
  const last = (await firstFrom(parentNumber + 1n)) - 1n;
  return last < first ? undefined : { first, last };
}
