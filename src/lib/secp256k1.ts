import { createRequire } from "node:module";
import type * as Secp256k1 from "secp256k1";
import { TycheError } from "./errors.ts";

let native: typeof Secp256k1 | undefined;

/**
 * Returns libsecp256k1 as the native addon of `secp256k1@5`; every operation on our secret keys goes through it.
 *
 * The package's own entry point silently falls back to a pure JavaScript implementation (`elliptic`), whose timing leaks the key. This
 * loads the binding by its file instead, and there is no other way to sign.
 *
 * @throws NativeAddonMissingError when the addon was not built for the platform.
 */
export function loadSecp256k1(): typeof Secp256k1 {
  try {
    return (native ??= createRequire(import.meta.url)("secp256k1/bindings") as typeof Secp256k1);
  } catch (cause) {
    throw new NativeAddonMissingError(cause);
  }
}

/** The native addon is missing, and nothing else signs in constant time. */
export class NativeAddonMissingError extends TycheError {
  constructor(cause: unknown) {
    super(
      "The native addon of secp256k1 is not built for this platform; run `npm rebuild secp256k1`, which needs Python and a C++ compiler. No other code may use keys, because its timing would leak them.",
      { code: "start_failed", blame: "caller", cause },
    );
  }
}
