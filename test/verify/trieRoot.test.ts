import { keccak256, toHex, toRlp } from "viem";
import { expect, test } from "vitest";
import { trieRoot } from "../../src/verify/trieRoot.ts";

const root = (items: readonly Uint8Array[]) => toHex(trieRoot(items));

test("without items it is the root of every empty block", () => {
  // Yellow Paper, TRIE(∅): the transactionsRoot of blocks without transactions.
  expect(root([])).toBe("0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421");
});

test("one item is a leaf under the key 0x80", () => {
  const item = Uint8Array.of(1, 2, 3);
  // A leaf with an even number of nibbles, 8 and 0: prefix 0x20.
  expect(root([item])).toBe(keccak256(toRlp(["0x2080", "0x010203"])));
});

test.each([2, 16, 17, 127, 128, 129, 256, 300])(
  "of %i items each one, its place and their number count",
  (count) => {
    const items = Array.from({ length: count }, (_, index) => Uint8Array.of(index >> 8, index & 255, 7));
    const roots = new Set([
      root(items),
      root(items.slice(1)),
      root(items.with(0, Uint8Array.of(9))),
      root(items.with(count - 1, Uint8Array.of(9))),
      root(items.toReversed()),
    ]);
    expect(roots.size).toBe(5);
  },
);
