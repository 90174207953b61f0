/**
 * Threshold encryption TDH2 on P-256 with a hybrid of AES-256-GCM, in the encoding of functions-toolkit (`tdh2.js`).
 *
 * The scheme: V. Shoup, R. Gennaro, "Securing Threshold Cryptosystems against Chosen Ciphertext Attack", 2002, section 4. A ciphertext
 * proves that whoever made it knows what it encrypts, so nobody can turn somebody's ciphertext into another one that opens.
 */
import { p256 } from "@noble/curves/nist.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes } from "@noble/hashes/utils.js";
import { TycheError } from "../lib/errors.ts";

const { Point } = p256;
type Point = typeof Point.BASE;
const { ORDER } = Point.Fn;
const GROUP = "P256";
const NONCE_BYTES = 12;
const KEY_BYTES = 32;
const UNCOMPRESSED_BYTES = 65;
const text = new TextEncoder();

/** What is encrypted to, as the coordinator's `getThresholdPublicKey` has it: JSON in UTF-8, points uncompressed (SEC 1) in base64. */
export interface ThresholdPublicKey {
  readonly Group: typeof GROUP;
  /** A second generator, whose logarithm nobody knows. */
  readonly G_bar: string;
  /** The secret key times the generator. */
  readonly H: string;
  /** Each node's verification key. */
  readonly HArray: readonly string[];
}

/** Label of a ciphertext made by functions-toolkit: 32 zero bytes. */
export const NO_LABEL = new Uint8Array(KEY_BYTES);

/**
 * Encrypts bytes to a key; returns JSON.
 *
 * @param label 32 bytes that say what the ciphertext is for; they can be read, but not changed.
 * @throws {CiphertextError} for a key that is not one.
 */
export async function encrypt(
  key: Pick<ThresholdPublicKey, "G_bar" | "H">,
  plaintext: Uint8Array,
  label: Uint8Array,
): Promise<string> {
  const symmetric = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const [r, s] = [randomScalar(), randomScalar()];
  const [h, gBar] = [parsePoint(key.H), parsePoint(key.G_bar)];
  const c = xor(hashPoint(h.multiply(r)), symmetric);
  const [u, uBar] = [Point.BASE.multiply(r), gBar.multiply(r)];
  const e = challenge({ c, label, u, uBar, w: Point.BASE.multiply(s), wBar: gBar.multiply(s) });
  const body = {
    Group: GROUP,
    C: toBase64(c),
    Label: toBase64(label),
    U: formatPoint(u),
    U_bar: formatPoint(uBar),
    E: formatScalar(e),
    F: formatScalar((s + r * e) % ORDER),
  };
  const aes = await crypto.subtle.importKey("raw", symmetric, "AES-GCM", false, ["encrypt"]);
  const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv: nonce }, aes, new Uint8Array(plaintext));
  return JSON.stringify({
    TDH2Ctxt: toBase64(text.encode(JSON.stringify(body))),
    SymCtxt: toBase64(new Uint8Array(sealed)),
    Nonce: toBase64(nonce),
  });
}

/** A ciphertext whose proof holds. */
export interface Ciphertext {
  readonly label: Uint8Array;
  /** The point that the secret key is multiplied by, uncompressed. */
  readonly u: Uint8Array;
  readonly c: Uint8Array;
  readonly nonce: Uint8Array;
  /** AES-256-GCM ciphertext with its tag of 16 bytes at the end. */
  readonly sealed: Uint8Array;
}

/**
 * Parses a ciphertext and checks its proof.
 *
 * @throws {CiphertextError} when it is malformed, for another key, or its proof does not hold.
 */
export function parseCiphertext(json: string, { G_bar }: Pick<ThresholdPublicKey, "G_bar">): Ciphertext {
  const outer = parseTexts(json, ["TDH2Ctxt", "SymCtxt", "Nonce"]);
  const inner = parseTexts(new TextDecoder().decode(fromBase64(outer.TDH2Ctxt)), INNER);
  if (inner.Group !== GROUP) throw new CiphertextError("it is for another group than P256");
  const [c, label] = [fromBase64(inner.C), fromBase64(inner.Label)];
  const nonce = fromBase64(outer.Nonce);
  if (c.length !== KEY_BYTES || label.length !== KEY_BYTES || nonce.length !== NONCE_BYTES)
    throw new CiphertextError("a part of it has the wrong length");
  const [u, uBar, gBar] = [parsePoint(inner.U), parsePoint(inner.U_bar), parsePoint(G_bar)];
  const [e, f] = [parseScalar(inner.E), parseScalar(inner.F)];
  const w = times(Point.BASE, f).subtract(times(u, e));
  const wBar = times(gBar, f).subtract(times(uBar, e));
  if (w.is0() || wBar.is0() || challenge({ c, label, u, uBar, w, wBar }) !== e)
    throw new CiphertextError("its proof does not hold");
  return { label, u: u.toBytes(false), c, nonce, sealed: fromBase64(outer.SymCtxt) };
}

const INNER = ["Group", "C", "Label", "U", "U_bar", "E", "F"] as const;

/**
 * Opens a ciphertext with the point that its `u` times the secret key is.
 *
 * @throws {CiphertextError} when the point is not the one.
 */
export async function decrypt({ c, nonce, sealed }: Ciphertext, product: Uint8Array): Promise<Uint8Array> {
  const key = xor(hashPoint(Point.fromBytes(product)), c);
  const aes = await crypto.subtle.importKey("raw", new Uint8Array(key), "AES-GCM", false, ["decrypt"]);
  try {
    const iv = new Uint8Array(nonce);
    return new Uint8Array(await crypto.subtle.decrypt({ name: "AES-GCM", iv }, aes, new Uint8Array(sealed)));
  } catch {
    throw new CiphertextError("it is encrypted to another key");
  }
}

/** A node's share of opening a ciphertext: the point (65 bytes) and two numbers (32 bytes each) that prove it. */
const SHARE_BYTES = UNCOMPRESSED_BYTES + 2 * KEY_BYTES;

/**
 * Returns a node's share of opening a ciphertext, 129 bytes: `u` times its part of the secret key, with a proof that this is the part
 * behind its verification key (section 4, "Decryption share").
 */
export function makeShare(u: Uint8Array, secret: bigint): Uint8Array {
  const base = Point.fromBytes(u);
  const point = base.multiply(secret);
  const s = randomScalar();
  const [verificationKey, uHat, hHat] = [
    Point.BASE.multiply(secret),
    base.multiply(s),
    Point.BASE.multiply(s),
  ];
  const e = shareChallenge([base, verificationKey, point, uHat, hHat]);
  const f = (s + e * secret) % ORDER;
  return concatBytes(point.toBytes(false), Point.Fn.toBytes(e), Point.Fn.toBytes(f));
}

/** Returns the point of a share, 65 bytes, if the node with this verification key made it for this `u`; otherwise `undefined`. */
export function checkShare(
  u: Uint8Array,
  verificationKey: string,
  share: Uint8Array,
): Uint8Array | undefined {
  if (share.length !== SHARE_BYTES) return undefined;
  const pointBytes = share.subarray(0, UNCOMPRESSED_BYTES);
  try {
    const [base, h, point] = [Point.fromBytes(u), parsePoint(verificationKey), Point.fromBytes(pointBytes)];
    const e = Point.Fn.fromBytes(share.subarray(UNCOMPRESSED_BYTES, UNCOMPRESSED_BYTES + KEY_BYTES));
    const f = Point.Fn.fromBytes(share.subarray(UNCOMPRESSED_BYTES + KEY_BYTES));
    const uHat = times(base, f).subtract(times(point, e));
    const hHat = times(Point.BASE, f).subtract(times(h, e));
    return shareChallenge([base, h, point, uHat, hHat]) === e ? pointBytes : undefined;
  } catch {
    return undefined;
  }
}

/** Combines as many points of shares as are needed, by the index of their nodes: returns what {@link decrypt} takes. */
export function combineShares(points: ReadonlyMap<number, Uint8Array>): Uint8Array {
  const weights = weightsOf([...points.keys()]);
  return [...points.values()]
    .map((point, k) => Point.fromBytes(point).multiply(weights[k]!))
    .reduce((sum, one) => sum.add(one))
    .toBytes(false);
}

/** Returns by what to multiply the shares of these nodes so that their sum is the secret: Lagrange's coefficients at 0. */
export function weightsOf(indices: readonly number[]): readonly bigint[] {
  const { Fn } = Point;
  const xs = indices.map((index) => BigInt(index + 1));
  return xs.map((x) => {
    const others = xs.filter((one) => one !== x);
    const above = others.reduce((product, one) => Fn.mul(product, one), 1n);
    const below = others.reduce((product, one) => Fn.mul(product, Fn.sub(one, x)), 1n);
    return Fn.mul(above, Fn.inv(below));
  });
}

/** Includes what is proven about, unlike the paper's hash, so that no proof fits another statement. */
function shareChallenge(points: readonly Point[]): bigint {
  const hash = sha256(
    text.encode(`tdh2hash4${GROUP},${points.map((point) => point.toHex(false)).join(",")}`),
  );
  return BigInt(`0x${bytesToHex(hash)}`) % ORDER;
}

/**
 * A second generator that follows by hashing, so that nobody knows its logarithm: the first hash that is an x.
 *
 * @param h what it follows from: the public key, and more where a key has several.
 */
export function deriveSecondGenerator(h: Uint8Array): string {
  for (let counter = 0; ; counter += 1) {
    const x = sha256(concatBytes(text.encode(`tyche tdh2 generator ${counter}`), h));
    try {
      return formatPoint(Point.fromBytes(concatBytes(Uint8Array.of(2), x)));
    } catch {
      // About half of all numbers are the x of a point.
    }
  }
}

/** Formats 65 bytes of a point as the keys have it. */
export function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** Parses standard base64. Throws {@link CiphertextError}. */
export function fromBase64(encoded: string): Uint8Array {
  try {
    return Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
  } catch {
    throw new CiphertextError("a part of it is not base64");
  }
}

/** Bytes that are not a ciphertext, or not one that this key opens. */
export class CiphertextError extends TycheError {
  constructor(reason: string) {
    super(`The secrets can't be opened: ${reason}. Encrypt them again to the network's current key.`, {
      code: "secrets_unreadable",
      blame: "caller",
    });
  }
}

function hashPoint(point: Point): Uint8Array {
  return sha256(text.encode(`tdh2hash1${GROUP},${point.toHex(false)}`));
}

function challenge(of: {
  readonly c: Uint8Array;
  readonly label: Uint8Array;
  readonly u: Point;
  readonly w: Point;
  readonly uBar: Point;
  readonly wBar: Point;
}): bigint {
  const points = [of.u, of.w, of.uBar, of.wBar].map((point) => point.toHex(false)).join(",");
  const hash = sha256(
    concatBytes(text.encode("tdh2hash2"), of.c, of.label, text.encode(`${GROUP},${points}`)),
  );
  return BigInt(`0x${bytesToHex(hash)}`) % ORDER;
}

/** Multiplies in variable time, so by public numbers only. */
function times(point: Point, scalar: bigint): Point {
  return scalar === 0n ? Point.ZERO : point.multiplyUnsafe(scalar);
}

function randomScalar(): bigint {
  return Point.Fn.fromBytes(p256.utils.randomSecretKey());
}

function parsePoint(encoded: string): Point {
  const bytes = fromBase64(encoded);
  if (bytes.length !== UNCOMPRESSED_BYTES) throw new CiphertextError("a point of it has the wrong length");
  try {
    return Point.fromBytes(bytes);
  } catch {
    throw new CiphertextError("a point of it is not on the curve");
  }
}

function formatPoint(point: Point): string {
  return toBase64(point.toBytes(false));
}

function parseScalar(encoded: string): bigint {
  const bytes = fromBase64(encoded);
  if (bytes.length !== KEY_BYTES) throw new CiphertextError("a number of it has the wrong length");
  return BigInt(`0x${bytesToHex(bytes)}`) % ORDER;
}

function formatScalar(scalar: bigint): string {
  return toBase64(Point.Fn.toBytes(scalar));
}

function parseTexts<Name extends string>(json: string, names: readonly Name[]): Record<Name, string> {
  try {
    const parsed = JSON.parse(json) as Record<Name, unknown>;
    if (names.every((name) => typeof parsed[name] === "string")) return parsed as Record<Name, string>;
  } catch {
    // Reported below, like any other text.
  }
  throw new CiphertextError(`it is no JSON object with ${names.join(", ")}`);
}

function xor(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(a, (byte, i) => byte ^ b[i]!);
}
