import { toRlp } from "viem";
import { keccak256 } from "../lib/keccak.ts";
import { fromHexText } from "../lib/hex.ts";

/**
 * Returns the root (32 bytes) of the Merkle Patricia trie that a block's header commits to for its transactions and for its
 * receipts: item i under the key rlp(i). Yellow Paper, appendix D.
 */
export function trieRoot(items: readonly Uint8Array[]): Uint8Array {
  const entries = items.map((value, index): Entry => ({ path: keyOf(index), value }));
  if (entries.length === 0) return keccak256(toRlp(new Uint8Array(), "bytes"));
  return keccak256(toRlp(nodeOf(entries, 0), "bytes"));
}

interface Entry {
  /** The key's nibbles. */
  readonly path: readonly number[];
  readonly value: Uint8Array;
}

/** A node in the form that RLP encodes. */
type Node = readonly (Uint8Array | Node)[];

const NOTHING = new Uint8Array();

function keyOf(index: number): number[] {
  const bytes =
    index === 0
      ? NOTHING
      : fromHexText(`0x${index.toString(16).padStart(index < 256 ? 2 : index < 65_536 ? 4 : 6, "0")}`);
  return [...toRlp(bytes, "bytes")].flatMap((byte) => [byte >> 4, byte & 15]);
}

/** Builds the node for entries that share the first `depth` nibbles; there is at least one. */
function nodeOf(entries: readonly Entry[], depth: number): Node {
  const [first] = entries as readonly [Entry, ...Entry[]];
  if (entries.length === 1) return [prefixed(first.path.slice(depth), true), first.value];
  const shared = sharedDepth(entries, depth);
  if (shared > depth)
    return [prefixed(first.path.slice(depth, shared), false), reference(nodeOf(entries, shared))];
  const branches = Array.from({ length: 16 }, (_, nibble) => {
    const below = entries.filter(({ path }) => path[depth] === nibble);
    return below.length === 0 ? NOTHING : reference(nodeOf(below, depth + 1));
  });
  // No key of a list is a prefix of another, so a branch never has a value.
  return [...branches, NOTHING];
}

function sharedDepth(entries: readonly Entry[], from: number): number {
  const [first, ...others] = entries as readonly [Entry, ...Entry[]];
  let depth = from;
  while (depth < first.path.length && others.every(({ path }) => path[depth] === first.path[depth]))
    depth += 1;
  return depth;
}

/** A node of 32 bytes or more is referenced by its hash; a shorter one is inlined. */
function reference(node: Node): Uint8Array | Node {
  const bytes = toRlp(node, "bytes");
  return bytes.length < 32 ? node : keccak256(bytes);
}

/** Hex-prefix encoding, appendix C. */
function prefixed(nibbles: readonly number[], isLeaf: boolean): Uint8Array {
  const flag = (isLeaf ? 2 : 0) + (nibbles.length % 2);
  const padded = nibbles.length % 2 === 0 ? [flag, 0, ...nibbles] : [flag, ...nibbles];
  return Uint8Array.from({ length: padded.length / 2 }, (_, i) => (padded[2 * i]! << 4) | padded[2 * i + 1]!);
}
