import { createHash, createHmac } from "node:crypto";
import { readUint256 } from "../lib/uint256.ts";
import { GROUP_ORDER } from "./curve.ts";

/** Separates these nonces from those of an ECDSA signer that is given the same key. */
const DOMAIN = "tyche secp256k1 vrf v2 nonce";

/**
 * Yields the candidates for a proof's nonce k, each 32 bytes in 1..n−1; the first is used, the next only if it makes the proof
 * degenerate (probability below 2^-250).
 *
 * k is a pseudorandom function of the secret key, the hashed point H (65 bytes) and the seed (32 bytes), so that the same request
 * always gives the same proof, two requests never share a k, and no random source is involved that could fail or repeat. Two
 * proofs with the same k and different c reveal the key: secret = (s₁ − s₂)/(c₂ − c₁) mod n.
 */
export function proofNonces(
  secretKey: Uint8Array,
  hashPoint: Uint8Array,
  seed: Uint8Array,
): Generator<Uint8Array, never> {
  return rfc6979(secretKey, createHash("sha256").update(DOMAIN).update(hashPoint).update(seed).digest());
}

/**
 * Yields the deterministic nonces of RFC 6979 section 3.2 with HMAC-SHA-256 for secp256k1.
 *
 * `secretKey`: 32 bytes in 1..n−1; `digest`: 32 bytes. Both lengths equal n's, so `bits2int` drops no bits.
 */
export function* rfc6979(secretKey: Uint8Array, digest: Uint8Array): Generator<Uint8Array, never> {
  const message = bits2octets(digest);
  let V: Uint8Array = new Uint8Array(32).fill(1); // step b
  let K: Uint8Array = new Uint8Array(32); // step c
  K = hmac(K, V, Uint8Array.of(0), secretKey, message); // step d
  V = hmac(K, V); // step e
  K = hmac(K, V, Uint8Array.of(1), secretKey, message); // step f
  V = hmac(K, V); // step g
  for (;;) {
    V = hmac(K, V); // step h.2
    const k = readUint256(V);
    if (k > 0n && k < GROUP_ORDER) yield V;
    K = hmac(K, V, Uint8Array.of(0)); // step h.3
    V = hmac(K, V);
  }
}

/** RFC 6979 section 2.3.4: the digest reduced modulo n. */
function bits2octets(digest: Uint8Array): Uint8Array {
  const value = readUint256(digest);
  if (value < GROUP_ORDER) return digest;
  return Buffer.from((value - GROUP_ORDER).toString(16).padStart(64, "0"), "hex");
}

function hmac(key: Uint8Array, ...parts: readonly Uint8Array[]): Uint8Array {
  const mac = createHmac("sha256", key);
  for (const part of parts) mac.update(part);
  return mac.digest();
}
