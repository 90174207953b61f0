import type { Internals } from "../internals.ts";
import { createCrypto } from "../node/crypto/crypto.ts";

/** `node:crypto`. */
export default function nodeCryptoChunk(internals: Internals): Readonly<Record<string, unknown>> {
  return createCrypto(internals);
}
