/**
 * Proofs of VRF v2, as VRF.sol of `@chainlink/contracts@1.2.0` checks them: ECVRF of draft-irtf-cfrg-vrf-05 on secp256k1 with
 * Keccak-256, plus the witnesses that make the check cheap on chain. Background: Papadopoulos et al., ePrint 2017/099, appendix B.
 *
 * Roles. The prover holds a secret key and has registered the public key with the coordinator. The requester names that key by its hash
 * and receives a pre-seed. The verifier (contract, or `verify` here) knows only public data.
 *
 * Flow. A request is mined; seed = keccak(preSeed ‖ hash of its block). H is the seed hashed onto the curve. gamma = secret·H is the
 * only point that this key can give for this seed. A Chaum–Pedersen proof (c, s) shows that log_H(gamma) = log_G(pk). The output is
 * keccak(3 ‖ gamma), and the words are hashes of the output.
 *
 * Guarantees. Unique: one seed and key have one output, so the prover can't choose; it can only stay silent, which everyone sees.
 * Unpredictable without the secret key. Collision-free.
 *
 * Risks. Whoever holds the secret key and produces the blocks can try block hashes until an output suits: an operator with its own
 * chain can, and so can any miner bribed by the prover; more confirmations make the latter more expensive. A nonce used for two seeds
 * reveals the key (see `proofNonces`), and so may a hardware fault during a proof; where that matters, isolate the prover. A leaked key
 * makes all its past and future outputs computable, but nobody can alter those already on chain.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Hex } from "viem";
import { TycheError } from "../lib/errors.ts";
import { keccak256 } from "../lib/keccak.ts";
import { encodeUint256s, readUint256, WORD_BYTES } from "../lib/uint256.ts";
import { FIELD_SIZE, GROUP_ORDER, type CurveEngine, type Point } from "./curve.ts";
import { keyHash } from "./randomWords.ts";
import { toHexText } from "../lib/hex.ts";
import { loadSecp256k1 } from "../lib/secp256k1.ts";

/** VRF.sol `SCALAR_FROM_CURVE_POINTS_HASH_PREFIX`. */
const CHALLENGE_PREFIX = 2n;

/** A proof with the fields of VRF.sol's struct `Proof`, which calls `publicKey` `pk` and `preSeed` `seed`. */
export interface Proof {
  readonly publicKey: Point;
  /** secret·H. */
  readonly gamma: Point;
  /** Challenge: a full Keccak-256 hash, not reduced modulo n. */
  readonly c: bigint;
  /** k − c·secret mod n. */
  readonly s: bigint;
  /** The request's pre-seed; the proof itself is for keccak(preSeed ‖ blockHash). */
  readonly preSeed: bigint;
  /** Address (20 bytes) of u = k·G = c·pk + s·G. */
  readonly uWitness: Hex;
  /** c·gamma. */
  readonly cGammaWitness: Point;
  /** s·H. */
  readonly sHashWitness: Point;
  /** Inverse modulo p of the z coordinate computed by VRF.sol `_projectiveECAdd(cGammaWitness, sHashWitness)`. */
  readonly zInv: bigint;
}

/** A proof whose gamma, which fixes the output, is known before the rest is. */
export interface BegunProof {
  readonly gamma: Point;
  /** Returns the proof; takes three quarters of the work, the first time. */
  finish(this: void): Proof;
}

/** A proving key. */
export interface ProvingKey {
  /** 32 bytes, big-endian, in 1..n−1. */
  readonly secretKey: Uint8Array;
  readonly publicKey: Point;
  readonly keyHash: Hex;
}

/** What is proved: `seed` is `seedOf(preSeed, blockHash)`, and `preSeed` is only passed along. */
interface ProofRequest {
  readonly preSeed: bigint;
  readonly seed: bigint;
}

/**
 * Derives a proving key from its secret, 32 bytes in 1..n−1.
 *
 * @throws VrfSecretKeyError if it has another length or is out of range.
 */
export function createProvingKey(secretKey: Uint8Array, engine: CurveEngine = curveEngine()): ProvingKey {
  const zero = new Uint8Array(32);
  const usable =
    secretKey.length === 32 && !timingSafeEqual(secretKey, zero) && readUint256(secretKey) < GROUP_ORDER;
  if (!usable) throw new VrfSecretKeyError();
  const publicKey = pointOf(engine.multiplyBase(secretKey));
  return { secretKey: Uint8Array.from(secretKey), publicKey, keyHash: keyHash(publicKey) };
}

/**
 * Proves the output of `key` for a seed. The same arguments give the same bytes with every engine. Takes 0.2 ms natively.
 *
 * @throws RangeError if `seed` or `preSeed` does not fit in 256 bits.
 */
export function prove(key: ProvingKey, request: ProofRequest, engine: CurveEngine = curveEngine()): Proof {
  return beginProof(key, request, engine).finish();
}

/** Begins a proof as {@link prove} makes it. Throws as that does. */
export function beginProof(
  key: ProvingKey,
  request: ProofRequest,
  engine: CurveEngine = curveEngine(),
): BegunProof {
  const hash = hashToCurve(key.publicKey, request.seed, engine);
  const gamma = engine.multiplySecret(hash, key.secretKey);
  let proof: Proof | undefined;
  return {
    gamma: pointOf(gamma),
    finish: () => (proof ??= finishProof(key, request, { hash, gamma, engine })),
  };
}

/** Shows that gamma = secret·H, for H the seed hashed onto the curve. */
function finishProof(
  key: ProvingKey,
  request: ProofRequest,
  {
    hash,
    gamma,
    engine,
  }: { readonly hash: Uint8Array; readonly gamma: Uint8Array; readonly engine: CurveEngine },
): Proof {
  const [hashPoint, gammaPoint] = [pointOf(hash), pointOf(gamma)];
  for (const k of proofNonces(key.secretKey, hash, encodeUint256s(request.seed))) {
    // draft-irtf-cfrg-vrf-05 section 5.1 steps 4 to 6, with u's address in place of u.
    const uWitness = keccak256(engine.multiplyBase(k).subarray(1)).subarray(12); // u = k·G
    const v = engine.multiplySecret(hash, k); // v = k·H
    const challenge = challengeOf(hashPoint, key.publicKey, gammaPoint, pointOf(v), uWitness);
    const c = readUint256(challenge);
    // The proof works modulo n; the contract gets the unreduced hash.
    const cScalar = c < GROUP_ORDER ? challenge : encodeUint256s(c - GROUP_ORDER);
    if (c % GROUP_ORDER === 0n) continue;
    const s = engine.subtractProduct(k, cScalar, key.secretKey); // s = k − c·secret mod n
    if (!s) continue; // VRF.sol `_ecmulVerify`: "zero scalar"
    const cGamma = engine.multiplyPublic(gamma, cScalar);
    const sHash = engine.subtract(v, cGamma); // s·H = k·H − c·secret·H = v − c·gamma
    if (!sHash) continue;
    const [cGammaWitness, sHashWitness] = [pointOf(cGamma), pointOf(sHash)];
    if (cGammaWitness.x === sHashWitness.x) continue; // VRF.sol `_linearCombination`: "points in sum must be distinct"
    return {
      publicKey: key.publicKey,
      gamma: gammaPoint,
      c,
      s: readUint256(s),
      preSeed: request.preSeed,
      uWitness: toHexText(uWitness),
      cGammaWitness,
      sHashWitness,
      zInv: inverseOfProjectiveZ(cGammaWitness, sHashWitness),
    };
  }
  throw new Error("unreachable: the nonces never end");
}

/** c = keccak(2 ‖ H ‖ pk ‖ gamma ‖ v ‖ address(u)): VRF.sol `_scalarFromCurvePoints`. Returns 32 bytes. */
function challengeOf(
  hash: Point,
  publicKey: Point,
  gamma: Point,
  v: Point,
  uWitness: Uint8Array,
): Uint8Array {
  const points = [hash, publicKey, gamma, v].flatMap(({ x, y }) => [x, y]);
  return keccak256(Buffer.concat([encodeUint256s(CHALLENGE_PREFIX, ...points), uWitness]));
}

/**
 * VRF.sol `_projectiveECAdd(p1, p2)` multiplies denominators: with d = p2.x − p1.x, the slope has d, x has d², y has d³, and the common
 * z is d²·d³ = d⁵. If d² = d³ it takes another branch with z = d², but then d = 1 and d⁵ = d².
 */
function inverseOfProjectiveZ(p1: Point, p2: Point): bigint {
  const inverse = invert(p2.x - p1.x);
  const square = (inverse * inverse) % FIELD_SIZE;
  return (((square * square) % FIELD_SIZE) * inverse) % FIELD_SIZE;
}

/** Inverts a value that is not a multiple of p, modulo p, by the extended Euclidean algorithm; for public values only. */
function invert(value: bigint): bigint {
  let [remainder, nextRemainder] = [FIELD_SIZE, ((value % FIELD_SIZE) + FIELD_SIZE) % FIELD_SIZE];
  let [coefficient, nextCoefficient] = [0n, 1n];
  while (nextRemainder !== 0n) {
    const quotient = remainder / nextRemainder;
    [remainder, nextRemainder] = [nextRemainder, remainder - quotient * nextRemainder];
    [coefficient, nextCoefficient] = [nextCoefficient, coefficient - quotient * nextCoefficient];
  }
  return coefficient < 0n ? coefficient + FIELD_SIZE : coefficient;
}

function pointOf(bytes: Uint8Array): Point {
  return { x: readUint256(bytes, 1), y: readUint256(bytes, 33) };
}

/** Thrown for a secret that is not a secp256k1 key. Reveals nothing about its value. */
export class VrfSecretKeyError extends TycheError {
  constructor() {
    super(
      "A VRF secret key must be 32 bytes between 1 and the group order minus 1; check the configured key.",
      {
        code: "vrf_secret_key_invalid",
        blame: "us",
      },
    );
  }
}

/** VRF.sol `HASH_TO_CURVE_HASH_PREFIX`. */
const HASH_TO_CURVE_PREFIX = 1n;

/**
 * Hashes `seed` to the point H, whose discrete logarithm nobody knows: VRF.sol `_hashToCurve`, draft-irtf-cfrg-vrf-05 section
 * 5.4.1.1 (try and increment). Returns 65 bytes, y even.
 *
 * Both loops of the contract, `_fieldHash` while x ≥ p and `_hashToCurve` while no point has that x, hash the last x again, so one
 * loop covers both. It takes two rounds on average; finding a seed that needs m rounds takes 2^m tries.
 */
export function hashToCurve(publicKey: Point, seed: bigint, engine: CurveEngine): Uint8Array {
  let x = keccak256(encodeUint256s(HASH_TO_CURVE_PREFIX, publicKey.x, publicKey.y, seed));
  for (;;) {
    const point = engine.liftX(x);
    if (point) return point;
    x = keccak256(x);
  }
}

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

/** Bytes of an encoded proof: thirteen words, because all the struct's members are static. */
export const PROOF_BYTES = 13 * WORD_BYTES;

const ADDRESS_LIMIT = 1n << 160n;

/**
 * Encodes a proof as `abi.encode` does VRF.sol's struct `Proof`: the words pk.x, pk.y, gamma.x, gamma.y, c, s, seed (our
 * `preSeed`), uWitness (left-padded), cGammaWitness.x, .y, sHashWitness.x, .y, zInv. Returns 416 bytes.
 *
 * @throws RangeError if a number does not fit in 32 bytes.
 */
export function encodeProof(proof: Proof): Uint8Array {
  return encodeUint256s(
    proof.publicKey.x,
    proof.publicKey.y,
    proof.gamma.x,
    proof.gamma.y,
    proof.c,
    proof.s,
    proof.preSeed,
    BigInt(proof.uWitness),
    proof.cGammaWitness.x,
    proof.cGammaWitness.y,
    proof.sHashWitness.x,
    proof.sHashWitness.y,
    proof.zInv,
  );
}

/**
 * Decodes the output of {@link encodeProof} from the 416 bytes of `bytes` that start at `offset` (default 0): the calldata of
 * VRFCoordinatorV2 `fulfillRandomWords` from byte 4 on. Checks the form only; {@link verify} checks the content.
 *
 * @throws MalformedProofError if bytes are missing or the address has more than 20 bytes (Solidity's decoder reverts too).
 */
export function decodeProof(bytes: Uint8Array, offset = 0): Proof {
  if (bytes.length < offset + PROOF_BYTES)
    throw new MalformedProofError(`has ${bytes.length - offset} bytes of ${PROOF_BYTES}`);
  const word = (index: number): bigint => readUint256(bytes, offset + index * WORD_BYTES);
  const point = (index: number): Point => ({ x: word(index), y: word(index + 1) });
  const uWitness = word(7);
  if (uWitness >= ADDRESS_LIMIT) throw new MalformedProofError("has a uWitness of more than 20 bytes");
  return {
    publicKey: point(0),
    gamma: point(2),
    c: word(4),
    s: word(5),
    preSeed: word(6),
    uWitness: `0x${uWitness.toString(16).padStart(40, "0")}`,
    cGammaWitness: point(8),
    sHashWitness: point(10),
    zInv: word(12),
  };
}

/** Thrown for bytes that are not an encoded proof. */
export class MalformedProofError extends TycheError {
  constructor(problem: string) {
    super(`The VRF proof ${problem}; pass the whole struct of VRF.sol.`, {
      code: "vrf_proof_malformed",
      blame: "caller",
    });
  }
}

let engine: CurveEngine | undefined;

/** Returns the engine, creating it on the first call. Throws what {@link createNativeEngine} throws. */
export function curveEngine(): CurveEngine {
  return (engine ??= createNativeEngine());
}

/**
 * Creates the engine on libsecp256k1's native addon: 0.2 ms per proof.
 *
 * Secret scalars only go through functions that libsecp256k1 documents as constant-time: `ecdh` for scalar·point,
 * although `publicKeyTweakMul` would be a quarter faster, because it leaks through its timing.
 *
 * @throws NativeAddonMissingError if the addon was not built: nothing else that runs here is constant-time.
 */
export function createNativeEngine(): CurveEngine {
  const native = loadSecp256k1();
  const [x, y] = [new Uint8Array(32), new Uint8Array(32)];

  function joinCoordinates(x: Uint8Array, y: Uint8Array): Uint8Array {
    const point = new Uint8Array(65);
    point[0] = 4;
    point.set(x, 1);
    point.set(y, 33);
    return point;
  }

  return {
    name: "native",
    multiplyBase: (scalar) => native.publicKeyCreate(scalar, false),
    multiplySecret: (point, scalar) =>
      native.ecdh(point, scalar, { hashfn: joinCoordinates, xbuf: x, ybuf: y }, new Uint8Array(65)),
    multiplyPublic: (point, scalar) => native.publicKeyTweakMul(point, scalar, false),
    subtract(a, b) {
      const negated = native.publicKeyNegate(b, false);
      try {
        return native.publicKeyCombine([a, negated], false);
      } catch {
        return undefined;
      }
    },
    liftX(x) {
      const compressed = compressedEven(x);
      return native.publicKeyVerify(compressed) ? native.publicKeyConvert(compressed, false) : undefined;
    },
    subtractProduct(k, c, secret) {
      const product = native.privateKeyNegate(native.privateKeyTweakMul(Uint8Array.from(secret), c));
      try {
        return native.privateKeyTweakAdd(product, k);
      } catch {
        return undefined;
      }
    },
  };
}

/** SEC 1 v2 section 2.3.4: prefix 0x02 selects the even y. */
function compressedEven(x: Uint8Array): Uint8Array {
  const compressed = new Uint8Array(33);
  compressed[0] = 2;
  compressed.set(x, 1);
  return compressed;
}
