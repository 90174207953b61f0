import { keccak256 as keccak256OfViem } from "viem";
import { findNodeModule } from "./nodeModule.ts";

const crypto = findNodeModule("node:crypto");

/** OpenSSL has had Keccak besides SHA-3 since 3.2; browsers have no OpenSSL, and a Node linked to an older system library lacks Keccak. */
const openssl = crypto?.getHashes().includes("keccak-256") ? crypto : undefined;

/**
 * Returns the Keccak-256 hash of `bytes` (32 bytes), the EVM's `keccak256`; not NIST's SHA3-256, whose padding differs.
 *
 * OpenSSL computes it where it can: 1.0 µs for 64 bytes and 16 µs for 10,000, against 5.5 µs and 318 µs in JavaScript.
 */
export function keccak256(bytes: Uint8Array): Uint8Array {
  return openssl === undefined
    ? keccak256OfViem(bytes, "bytes")
    : openssl.hash("keccak-256", bytes, "buffer");
}
