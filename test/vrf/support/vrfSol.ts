/**
 * VRF.sol of `@chainlink/contracts@1.2.0`, function by function, using only integers: the independent reference of the tests. It includes
 * the ECRECOVER precompile as defined in the Yellow Paper's appendix F. Slow, and not for secrets.
 */
import { keccak256 } from "viem";
import type { Point } from "../../../src/vrf/curve.ts";
import type { Proof } from "../../../src/vrf/proof.ts";

const P = 2n ** 256n - 2n ** 32n - 977n;
const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const G: Point = {
  x: 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
  y: 0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n,
};

/** `_randomValueFromVRFProof`: returns the output or throws the contract's revert reason. */
export function randomValueFromVrfProof(proof: Proof, seed: bigint): bigint {
  const { publicKey: pk, gamma, c, s, uWitness, cGammaWitness, sHashWitness, zInv } = proof;
  require(isOnCurve(pk), "public key is not on curve");
  require(isOnCurve(gamma), "gamma is not on curve");
  require(isOnCurve(cGammaWitness), "cGammaWitness is not on curve");
  require(isOnCurve(sHashWitness), "sHashWitness is not on curve");
  require(BigInt(uWitness) !== 0n, "bad witness");
  const u = ecrecover(N - mod(pk.x * s, N), pk, mod(c * pk.x, N));
  require(u === BigInt(uWitness), "addr(c*pk+s*g)!=_uWitness");
  const hash = hashToCurve(pk, seed);
  require(cGammaWitness.x % P !== sHashWitness.x % P, "points in sum must be distinct");
  require(ecmulVerify(gamma, c, cGammaWitness), "First mul check failed");
  require(ecmulVerify(hash, s, sHashWitness), "Second mul check failed");
  const v = affineEcAdd(cGammaWitness, sHashWitness, zInv);
  const points = [hash, pk, gamma, v].map(({ x, y }) => word(x) + word(y)).join("");
  require(c === hashOf(word(2n) + points + uWitness.slice(2)), "invalid proof");
  return hashOf(word(3n) + word(gamma.x) + word(gamma.y));
}

/** `_hashToCurve`. */
export function hashToCurve(pk: Point, input: bigint): Point {
  let candidate = newCandidate(word(1n) + word(pk.x) + word(pk.y) + word(input));
  while (!isOnCurve(candidate)) candidate = newCandidate(word(candidate.x));
  return candidate;
}

function newCandidate(packed: string): Point {
  let x = hashOf(packed);
  while (x >= P) x = hashOf(word(x));
  const y = pow(mod(x ** 3n + 7n, P), (P + 1n) >> 2n);
  return { x, y: y % 2n === 1n ? P - y : y };
}

function isOnCurve(point: Point): boolean {
  require(point.x < P, "invalid x-ordinate");
  require(point.y < P, "invalid y-ordinate");
  return mod(point.x ** 3n + 7n, P) === mod(point.y ** 2n, P);
}

function ecmulVerify(multiplicand: Point, scalar: bigint, product: Point): boolean {
  require(scalar !== 0n, "zero scalar");
  return ecrecover(0n, multiplicand, mod(scalar * multiplicand.x, N)) === addressOf(product);
}

/**
 * Returns the address of r⁻¹(s·R − h·G), where R is the point with x = r and the parity of `point`; 0 where the precompile returns nothing.
 */
function ecrecover(h: bigint, point: Point, s: bigint): bigint {
  const r = point.x;
  if (r === 0n || r >= N || s === 0n || s >= N) return 0n;
  const inverse = invert(r, N);
  const sum = add(multiply(s, point), multiply(mod(-h, N), G));
  const key = sum && multiply(inverse, sum);
  return key ? addressOf(key) : 0n;
}

function affineEcAdd(p1: Point, p2: Point, invZ: bigint): Point {
  const { x, y, z } = projectiveEcAdd(p1, p2);
  require(mod(z * invZ, P) === 1n, "invZ must be inverse of z");
  return { x: mod(x * invZ, P), y: mod(y * invZ, P) };
}

function projectiveEcAdd(p: Point, q: Point): { x: bigint; y: bigint; z: bigint } {
  type Fraction = readonly [numerator: bigint, denominator: bigint];
  const times = (a: Fraction, b: Fraction): Fraction => [mod(a[0] * b[0], P), mod(a[1] * b[1], P)];
  const minus = (a: Fraction, b: Fraction): Fraction => [
    mod(b[1] * a[0] - b[0] * a[1], P),
    mod(a[1] * b[1], P),
  ];
  const slope: Fraction = [mod(q.y - p.y, P), mod(q.x - p.x, P)];
  const x = minus(minus(times(slope, slope), [p.x, 1n]), [q.x, 1n]);
  const y = minus(times(minus([p.x, 1n], x), slope), [p.y, 1n]);
  if (x[1] === y[1]) return { x: x[0], y: y[0], z: x[1] };
  return { x: mod(x[0] * y[1], P), y: mod(y[0] * x[1], P), z: mod(x[1] * y[1], P) };
}

function add(a: Point | undefined, b: Point | undefined): Point | undefined {
  if (!a) return b;
  if (!b) return a;
  if (a.x === b.x && a.y !== b.y) return undefined;
  const slope = a.x === b.x ? 3n * a.x ** 2n * invert(2n * a.y, P) : (b.y - a.y) * invert(b.x - a.x, P);
  const x = mod(slope ** 2n - a.x - b.x, P);
  return { x, y: mod(slope * (a.x - x) - a.y, P) };
}

function multiply(scalar: bigint, point: Point): Point | undefined {
  let sum: Point | undefined;
  for (const bit of scalar.toString(2)) {
    sum = add(sum, sum);
    if (bit === "1") sum = add(sum, point);
  }
  return sum;
}

function addressOf(point: Point): bigint {
  return mod(hashOf(word(point.x) + word(point.y)), 1n << 160n);
}

function pow(base: bigint, exponent: bigint, modulus = P): bigint {
  let result = 1n;
  for (const bit of exponent.toString(2)) {
    result = mod(result * result, modulus);
    if (bit === "1") result = mod(result * base, modulus);
  }
  return result;
}

/** Returns the inverse of `value` by the extended Euclidean algorithm: a tenth of the time of a power of `modulus - 2`. */
function invert(value: bigint, modulus: bigint): bigint {
  let [a, b] = [mod(value, modulus), modulus];
  let [x, y] = [1n, 0n];
  while (a > 1n) {
    const quotient = b / a;
    [a, b] = [b - quotient * a, a];
    [x, y] = [y - quotient * x, x];
  }
  require(a === 1n, "not invertible");
  return mod(x, modulus);
}

function mod(value: bigint, modulus: bigint): bigint {
  const rest = value % modulus;
  return rest < 0n ? rest + modulus : rest;
}

function word(value: bigint): string {
  return value.toString(16).padStart(64, "0");
}

function hashOf(hexDigits: string): bigint {
  return BigInt(keccak256(`0x${hexDigits}`));
}

function require(condition: boolean, reason: string): void {
  if (!condition) throw new Error(reason);
}
