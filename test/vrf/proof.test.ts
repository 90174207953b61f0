import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CurveEngine, GROUP_ORDER } from "../../src/vrf/curve.ts";
import {
  encodeProof,
  createNativeEngine,
  createProvingKey,
  prove,
  VrfSecretKeyError,
} from "../../src/vrf/proof.ts";
import { outputOf } from "../../src/vrf/randomWords.ts";
import { verify } from "../../src/vrf/verify.ts";
import { encodeUint256s } from "../../src/lib/uint256.ts";
import { nobleEngine } from "./support/nobleEngine.ts";
import { randomValueFromVrfProof } from "./support/vrfSol.ts";

const native = createNativeEngine();
const engines: readonly CurveEngine[] = [native, nobleEngine];
const key = createProvingKey(new Uint8Array(32).fill(7));

const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const secretKey = fc.bigInt({ min: 1n, max: GROUP_ORDER - 1n }).map((value) => encodeUint256s(value));

test("a proof is accepted by the contract's own steps and by verify, with the same output", () => {
  const proof = prove(key, { preSeed: 5n, seed: 99n });
  expect(randomValueFromVrfProof(proof, 99n)).toBe(outputOf(proof.gamma));
  expect(verify(proof, 99n)).toEqual({ valid: true, output: outputOf(proof.gamma) });
});

test("any key proves any seed", () => {
  fc.assert(
    fc.property(secretKey, uint256, uint256, (secret, preSeed, seed) => {
      const proof = prove(createProvingKey(secret), { preSeed, seed });
      expect(verify(proof, seed)).toEqual({ valid: true, output: randomValueFromVrfProof(proof, seed) });
    }),
    { numRuns: 6, seed: 1 },
  );
});

test("both engines give the same bytes", () => {
  fc.assert(
    fc.property(secretKey, uint256, (secret, seed) => {
      const proofs = engines.map((engine) =>
        encodeProof(prove(createProvingKey(secret, engine), { preSeed: 1n, seed }, engine)),
      );
      expect(proofs[1]).toEqual(proofs[0]);
    }),
    { numRuns: 25, seed: 2 },
  );
});

test("the smallest and the largest secret key prove", () => {
  for (const secret of [1n, 2n, GROUP_ORDER - 1n]) {
    const proof = prove(createProvingKey(encodeUint256s(secret)), { preSeed: 0n, seed: 2n ** 256n - 1n });
    expect(verify(proof, 2n ** 256n - 1n).valid).toBe(true);
  }
});

test("the same request gives the same proof, so a second node or a restart reveals nothing new", () => {
  expect(prove(key, { preSeed: 5n, seed: 99n })).toEqual(prove(key, { preSeed: 5n, seed: 99n }));
});

test("two seeds never share a nonce", () => {
  const witnesses = Array.from(
    { length: 200 },
    (_, seed) => prove(key, { preSeed: 0n, seed: BigInt(seed) }).uWitness,
  );
  expect(new Set(witnesses).size).toBe(200);
});

test("the pre-seed only travels along", () => {
  const { preSeed, ...rest } = prove(key, { preSeed: 1n, seed: 99n });
  expect(prove(key, { preSeed: 2n, seed: 99n })).toEqual({ ...rest, preSeed: preSeed + 1n });
});

describe.each(engines)("$name engine", (engine) => {
  const point = engine.multiplyBase(encodeUint256s(5n));

  test("a difference of equal points is undefined", () => {
    expect(engine.subtract(point, point)).toBeUndefined();
  });

  test("a − b is right", () => {
    expect(engine.subtract(engine.multiplyBase(encodeUint256s(9n)), point)).toEqual(
      engine.multiplyBase(encodeUint256s(4n)),
    );
  });

  test("k − c·secret of zero is undefined", () => {
    const [k, c, secret] = [encodeUint256s(35n), encodeUint256s(5n), encodeUint256s(7n)];
    expect(engine.subtractProduct(k, c, secret)).toBeUndefined();
  });

  test("k − c·secret leaves its arguments as they were", () => {
    const [k, c, secret] = [encodeUint256s(36n), encodeUint256s(5n), encodeUint256s(7n)];
    expect(engine.subtractProduct(k, c, secret)).toEqual(encodeUint256s(1n));
    expect([k, c, secret]).toEqual([encodeUint256s(36n), encodeUint256s(5n), encodeUint256s(7n)]);
  });

  test("lifting an x of p or more, or one that no point has, is undefined", () => {
    expect(engine.liftX(encodeUint256s(2n ** 256n - 1n))).toBeUndefined();
    expect(engine.liftX(encodeUint256s(5n))).toBeUndefined();
    expect(engine.liftX(encodeUint256s(1n))?.length).toBe(65);
  });
});

test.each([
  ["zero", new Uint8Array(32)],
  ["the group order", encodeUint256s(GROUP_ORDER)],
  ["31 bytes", new Uint8Array(31).fill(1)],
])("a secret key of %s is refused without showing it", (_, secret) => {
  expect(() => createProvingKey(secret)).toThrow(VrfSecretKeyError);
});
