import { createRequire } from "node:module";
import type * as Secp256k1 from "secp256k1";

let native: typeof Secp256k1 | undefined | null;

/**
 * Returns libsecp256k1 as the native addon of `secp256k1@5`, or `undefined` where it was not built for the platform.
 *
 * The package's own entry point would then silently give a pure JavaScript implementation (`elliptic`: slow, and not
 * constant-time), so this asks for the binding by its file.
 */
export function loadNativeSecp256k1(): typeof Secp256k1 | undefined {
  if (native === undefined) {
    try {
      native = createRequire(import.meta.url)("secp256k1/bindings") as typeof Secp256k1;
    } catch {
      native = null;
    }
  }
  return native ?? undefined;
}
