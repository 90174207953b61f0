import type { Hex } from "viem";
import { fromHexText } from "../lib/hex.ts";
import { keccak256 } from "../lib/keccak.ts";

const BLOOM_BYTES = 256;
/** Each value sets three bits, chosen by the first six bytes of its hash. */
const HASH_BYTES_USED = 6;

/**
 * Whether a block may have logs of one of these contracts, according to its header's bloom filter (Yellow Paper, 4.4.3). For a valid
 * filter, `false` is certain; in a crowded block, `true` may be a false positive.
 *
 * @param logsBloom 256 bytes as hex; anything else that a node returned says nothing, and gives `false`.
 */
export function mayHaveLogsOf(logsBloom: unknown, addresses: readonly Hex[]): boolean {
  if (typeof logsBloom !== "string" || !/^0x[0-9a-fA-F]{512}$/.test(logsBloom) || /^0x0+$/.test(logsBloom))
    return false;
  const bloom = fromHexText(logsBloom as Hex);
  return addresses.some((address) => hasBits(bloom, keccak256(fromHexText(address))));
}

function hasBits(bloom: Uint8Array, hash: Uint8Array): boolean {
  for (let i = 0; i < HASH_BYTES_USED; i += 2) {
    const bit = ((hash[i]! << 8) | hash[i + 1]!) % (BLOOM_BYTES * 8);
    if ((bloom[BLOOM_BYTES - 1 - (bit >> 3)]! & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}
