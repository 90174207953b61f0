import { expect, test } from "vitest";
import { readPipelining } from "../../src/evm/pipelining.ts";
import type { BlockHead } from "../../src/evm/client.ts";

/** Creates a node whose blocks are this far apart. */
function nodeOf({ number, seconds, gasLimit }: { number: number; seconds: number; gasLimit: bigint }) {
  const hex = (value: number | bigint): string => `0x${value.toString(16)}`;
  return {
    request: async () => ({ number: hex(number), timestamp: hex(number * seconds), gasLimit: hex(gasLimit) }),
    getHead: async (block: bigint | string) =>
      ({ number: block, timestamp: BigInt(Number(block) * seconds) }) as BlockHead,
  };
}

test("a fifth of a block's gas, and eight that aren't full for each block", async () => {
  const node = nodeOf({ number: 1_000, seconds: 2, gasLimit: 30_000_000n });
  expect(await readPipelining(node)).toEqual({
    blockMs: 2_000,
    maxInFlight: 16,
    paceMs: 250,
    maxTransactionGas: 6_000_000n,
  });
});

test("never more gas than EIP-7825 lets a transaction have", async () => {
  const node = nodeOf({ number: 1_000, seconds: 1, gasLimit: 1n << 50n });
  expect((await readPipelining(node)).maxTransactionGas).toBe(2n ** 24n);
});

test("blocks that are hours apart, or within a second, leave a pace and a block time of use", async () => {
  const read = (seconds: number) => readPipelining(nodeOf({ number: 1_000, seconds, gasLimit: 30_000_000n }));
  expect(await read(3_600)).toMatchObject({ paceMs: 1_500, blockMs: 30_000 });
  expect(await read(0)).toMatchObject({ paceMs: 25, blockMs: 0 });
});

test("a chain that has only begun says nothing about its blocks", async () => {
  const node = nodeOf({ number: 1, seconds: 3_600, gasLimit: 30_000_000n });
  expect((await readPipelining(node)).paceMs).toBe(250);
});
