import { secp256k1 } from "@noble/curves/secp256k1.js";
import { encodeUint256s, readUint256 } from "../../../src/lib/uint256.ts";
import type { CurveEngine } from "../../../src/vrf/curve.ts";

const Curve = secp256k1.Point;
const order = Curve.Fn.ORDER;

/** The reference: audited, pure TypeScript, with arithmetic by another author. */
export const nobleEngine: CurveEngine = {
  name: "noble",
  multiplyBase: (scalar) => Curve.BASE.multiply(readUint256(scalar)).toBytes(false),
  multiplySecret: (point, scalar) => Curve.fromBytes(point).multiply(readUint256(scalar)).toBytes(false),
  multiplyPublic: (point, scalar) =>
    Curve.fromBytes(point).multiplyUnsafe(readUint256(scalar)).toBytes(false),
  subtract(a, b) {
    const difference = Curve.fromBytes(a).subtract(Curve.fromBytes(b));
    return difference.is0() ? undefined : difference.toBytes(false);
  },
  liftX(x) {
    try {
      return Curve.fromBytes(Uint8Array.of(2, ...x)).toBytes(false);
    } catch {
      return undefined;
    }
  },
  subtractProduct(k, c, secret) {
    const difference = readUint256(k) - readUint256(c) * readUint256(secret);
    const value = ((difference % order) + order) % order;
    return value === 0n ? undefined : encodeUint256s(value);
  },
};
