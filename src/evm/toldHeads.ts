import type { Hex } from "viem";

/** Number of newest heads that are all kept: most reorgs are no deeper. */
const DENSE_HEADS = 512;
/** Of older heads, one in this many blocks is kept, so that a deep reorg is followed from shortly before its fork. */
const SPARSE_BLOCKS = 64n;
/** Number of sparse heads kept: they reach back 262,144 blocks. */
const MAX_SPARSE_HEADS = 4_096;

/** The blocks announced to a follower, by number: enough of them to find where a chain forked. */
export interface ToldHeads {
  get(number: bigint): Hex | undefined;
  set(number: bigint, hash: Hex): void;
  /** Forgets the blocks from this number on. */
  dropFrom(number: bigint): void;
  /** Returns the numbers of the remembered blocks, ascending. */
  numbers(): readonly bigint[];
}

/** Creates the memory of one follower. */
export function createToldHeads(known: ReadonlyMap<bigint, Hex> = new Map()): ToldHeads {
  const dense = new Map(known);
  /** By block number, in order; one for each {@link SPARSE_BLOCKS}. */
  const sparse = new Map<bigint, Hex>();
  let lastSparse = -SPARSE_BLOCKS;

  const thin = (): void => {
    const [number, hash] = dense.entries().next().value!;
    dense.delete(number);
    if (number < lastSparse + SPARSE_BLOCKS) return;
    sparse.set(number, hash);
    lastSparse = number;
    if (sparse.size > MAX_SPARSE_HEADS) sparse.delete(sparse.keys().next().value!);
  };

  return {
    get: (number) => dense.get(number) ?? sparse.get(number),
    set(number, hash) {
      dense.set(number, hash);
      if (dense.size > DENSE_HEADS) thin();
    },
    dropFrom(first) {
      for (const heads of [dense, sparse])
        for (const number of heads.keys()) if (number >= first) heads.delete(number);
      if (lastSparse >= first) lastSparse = [...sparse.keys()].at(-1) ?? -SPARSE_BLOCKS;
    },
    numbers: () => [...sparse.keys(), ...dense.keys()].toSorted((a, b) => Number(a - b)),
  };
}

/**
 * Finds the last of some blocks that the chain still has, galloping back from the newest: 2 log2(n) requests when n blocks were
 * replaced, and one when none was.
 *
 * @param numbers ascending.
 * @param isKept whether the chain has the block that was announced; if it has one, it also has all earlier ones.
 * @returns the index, or -1 if the chain has none of them.
 */
export async function findLastKept(
  numbers: readonly bigint[],
  isKept: (number: bigint) => Promise<boolean>,
): Promise<number> {
  let replaced = numbers.length;
  let kept = numbers.length - 1;
  for (let stride = 1; kept >= 0 && !(await isKept(numbers[kept]!)); stride *= 2) {
    replaced = kept;
    kept = Math.max(-1, kept - stride);
  }
  while (replaced - kept > 1) {
    const middle = Math.floor((kept + replaced) / 2);
    if (await isKept(numbers[middle]!)) kept = middle;
    else replaced = middle;
  }
  return kept;
}
