import * as tiny from "tiny-secp256k1";
import { readUint256, encodeUint256s } from "../lib/uint256.ts";
import { GROUP_ORDER, type CurveEngine } from "./curve.ts";
import { compressedEven } from "./nativeEngine.ts";

/**
 * Creates the engine on `tiny-secp256k1`, libsecp256k1 as WebAssembly: runs wherever Node does, 0.6 ms a proof.
 *
 * It exports no constant-time scalar·point and no scalar product, so a proof's duration depends slightly on the secret key here;
 * whoever can measure that precisely should be kept away from the machine, or the native engine used.
 */
export function createWasmEngine(): CurveEngine {
  return {
    name: "wasm",
    multiplyBase: (scalar) => present(tiny.pointFromScalar(scalar, false)),
    multiplySecret: (point, scalar) => present(tiny.pointMultiply(point, scalar, false)),
    multiplyPublic: (point, scalar) => present(tiny.pointMultiply(point, scalar, false)),
    subtract: (a, b) => tiny.pointAdd(a, negate(b), false) ?? undefined,
    liftX(x) {
      const compressed = compressedEven(x);
      return tiny.isPoint(compressed) ? tiny.pointCompress(compressed, false) : undefined;
    },
    subtractProduct(k, c, secret) {
      const product = (readUint256(c) * readUint256(secret)) % GROUP_ORDER;
      return tiny.privateSub(k, encodeUint256s(product)) ?? undefined;
    },
  };
}

/** A scalar in 1..n−1 never takes a point to infinity, because n is prime. */
function present(point: Uint8Array | null): Uint8Array {
  if (point === null) throw new RangeError("scalar outside 1..n-1");
  return point;
}

/** Flips the parity prefix of the compressed form, which is the point mirrored at the x axis. */
function negate(point: Uint8Array): Uint8Array {
  const compressed = Uint8Array.from(tiny.pointCompress(point, true));
  compressed[0] = compressed[0] === 2 ? 3 : 2;
  return compressed;
}
