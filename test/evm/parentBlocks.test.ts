import { expect, test } from "vitest";
import { findBlocksOfParent } from "../../src/evm/parentBlocks.ts";
import { toQuantity } from "../../src/lib/nodeAnswers.ts";

/** Creates a chain; the block at each index has the parent number given there. */
function chainOf(parents: readonly (number | undefined)[]) {
  const asked: string[] = [];
  return {
    asked,
    async request(_method: string, [block]: readonly unknown[] = []) {
      asked.push(String(block));
      const number = block === "latest" ? parents.length - 1 : Number(block);
      const parent = parents[number];
      return {
        number: toQuantity(number),
        ...(parent === undefined ? {} : { l1BlockNumber: toQuantity(parent) }),
      };
    },
  };
}

test.each([
  [5, 0n, 1n],
  [7, 2n, 2n],
  [9, 3n, 6n],
  [12, 7n, 7n],
])("the blocks with the parent's number %i are %i to %i", async (parent, first, last) => {
  const chain = chainOf([5, 5, 7, 9, 9, 9, 9, 12]);
  expect(await findBlocksOfParent(chain, BigInt(parent))).toEqual({ first, last });
});

test.each([4, 8, 13])("no block has the parent's number %i", async (parent) => {
  expect(await findBlocksOfParent(chainOf([5, 5, 7, 9, 9, 9, 9, 12]), BigInt(parent))).toBeUndefined();
});

test("blocks from before the numbers were told are passed over", async () => {
  const chain = chainOf([undefined, undefined, undefined, 7, 7, 8]);
  expect(await findBlocksOfParent(chain, 7n)).toEqual({ first: 3n, last: 4n });
});

test("a network without such numbers is asked once", async () => {
  const chain = chainOf([undefined, undefined]);
  expect(await findBlocksOfParent(chain, 1n)).toBeUndefined();
  expect(chain.asked).toEqual(["latest"]);
});
