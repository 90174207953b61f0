import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readUint256 } from "../../src/lib/uint256.ts";
import { curveEngine, hashToCurve } from "../../src/vrf/proof.ts";
import { hashToCurve as hashToCurveOfContract } from "./support/vrfSol.ts";

const generator = {
  x: 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
  y: 0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n,
};

test("the same point as the contract's steps, for any seed", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (seed) => {
      const point = hashToCurve(generator, seed, curveEngine());
      expect({ x: readUint256(point, 1), y: readUint256(point, 33) }).toEqual(
        hashToCurveOfContract(generator, seed),
      );
    }),
    { numRuns: 200, seed: 4 },
  );
});
