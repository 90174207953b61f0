import { createRequire } from "node:module";
import { hexToString } from "viem";
import { describe, expect, test } from "vitest";
import { faultyNodesOf } from "../../src/chainlink/quorum.ts";
import { combineDealings, createDealer, isPartOf, parseDealing } from "../../src/secrets/keyGeneration.ts";
import { checkShare, combineShares, decrypt, makeShare, parseCiphertext } from "../../src/secrets/tdh2.ts";

/** The reference: what functions-toolkit 0.3.2 encrypts with. */
const load = createRequire(createRequire(import.meta.url).resolve("@chainlink/functions-toolkit"));
const reference = load("./tdh2.js") as { encrypt(key: object, message: Buffer): string };

const seed = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const MESSAGE = "message ü";

/** Generates a key among nodes; returns what each of them has. */
function generate(nodes: number) {
  const needed = 2 * faultyNodesOf(nodes) + 1;
  const dealers = Array.from({ length: nodes }, (_, index) => createDealer(seed(index + 1), needed));
  const dealings = dealers.map(({ dealing }) => dealing);
  const keys = dealers.map((_, index) =>
    combineDealings(
      dealings,
      dealers.map((one) => one.partOf(index)),
    ),
  );
  return { needed, dealers, keys };
}

describe.each([4, 7, 31])("%i nodes", (nodes) => {
  const { needed, dealers, keys } = generate(nodes);
  const published = JSON.parse(hexToString(keys[0]!.thresholdPublicKey)) as { HArray: string[] };
  const parsed = parseCiphertext(reference.encrypt(published, Buffer.from(MESSAGE)), keys[0]!.threshold);
  const shares = keys.map(({ share }) => makeShare(parsed.u, share));
  const pointsOf = (indices: readonly number[]) =>
    new Map(indices.map((index) => [index, checkShare(parsed.u, published.HArray[index]!, shares[index]!)!]));

  test("default: all nodes have the same public keys, and the DON's key, and a share each", () => {
    const publicOf = ({ thresholdPublicKey, donPublicKey, donSecretKey }: (typeof keys)[number]) => [
      thresholdPublicKey,
      donPublicKey,
      donSecretKey,
    ];
    for (const key of keys) expect(publicOf(key)).toEqual(publicOf(keys[0]!));
    expect(new Set(keys.map(({ share }) => share)).size).toBe(nodes);
  });

  test("default: as many nodes as needed open what the toolkit encrypts, whichever they are", async () => {
    const last = keys.map((_, index) => index).slice(-needed);
    for (const chosen of [last, last.map((index) => nodes - 1 - index)])
      expect(Buffer.from(await decrypt(parsed, combineShares(pointsOf(chosen)))).toString()).toBe(MESSAGE);
  });

  test("bounds: one node fewer opens nothing, nor does it with a share that it makes up", async () => {
    const few = pointsOf(keys.map((_, index) => index).slice(1, needed));
    await expect(decrypt(parsed, combineShares(few))).rejects.toThrow("another key");
    const forged = makeShare(parsed.u, keys[0]!.share + 1n);
    expect(checkShare(parsed.u, published.HArray[0]!, forged)).toBeUndefined();
    few.set(0, forged.subarray(0, 65));
    await expect(decrypt(parsed, combineShares(few))).rejects.toThrow("another key");
  });

  test("bounds: refuses a part of another node, of another dealing, or with a changed bit", () => {
    const [{ dealing }, other] = [dealers[0]!, dealers[1]!];
    const part = dealers[0]!.partOf(1);
    expect(isPartOf(dealing, 1, part)).toBe(true);
    expect(isPartOf(dealing, 2, part)).toBe(false);
    expect(isPartOf(other.dealing, 1, part)).toBe(false);
    expect(isPartOf({ ...dealing, donHash: other.dealing.donHash }, 1, part)).toBe(false);
    for (const byte of [0, 31, 32, 63]) {
      const changed = Uint8Array.from(part);
      changed[byte]! ^= 1;
      expect(isPartOf(dealing, 1, changed)).toBe(false);
    }
    const moved = [dealing.commitments[1]!, dealing.commitments[0]!, ...dealing.commitments.slice(2)];
    expect(isPartOf({ ...dealing, commitments: moved }, 1, part)).toBe(false);
  });
});

const { dealers, keys } = generate(4);

test("bounds: refuses a share of another node, of another ciphertext, or with a changed bit", () => {
  const { threshold } = keys[0]!;
  const [first, second] = [MESSAGE, "another"].map((message) =>
    parseCiphertext(reference.encrypt(threshold, Buffer.from(message)), threshold),
  );
  const share = makeShare(first!.u, keys[0]!.share);
  const check = (one: Uint8Array, index = 0, u = first!.u) => checkShare(u, threshold.HArray[index]!, one);
  expect(check(share)).toEqual(share.subarray(0, 65));
  expect(check(share, 1)).toBeUndefined();
  expect(check(share, 0, second!.u)).toBeUndefined();
  expect(check(share.subarray(1))).toBeUndefined();
  for (const byte of [0, 1, 64, 65, 96, 97, 128]) {
    const changed = Uint8Array.from(share);
    changed[byte]! ^= 1;
    expect(check(changed)).toBeUndefined();
  }
});

test("default: a node deals the same again, and reads what others publish of theirs", () => {
  const { dealing } = dealers[0]!;
  expect(createDealer(seed(1), 3).dealing).toEqual(dealing);
  expect(parseDealing(JSON.parse(JSON.stringify(dealing)), 3)).toEqual(dealing);
});

test.each([
  ["nothing", undefined],
  ["too few commitments", { ...dealers[0]!.dealing, commitments: dealers[0]!.dealing.commitments.slice(1) }],
  ["no point", { ...dealers[0]!.dealing, commitments: Array(3).fill(`0x05${"00".repeat(32)}`) }],
  ["a short hash", { ...dealers[0]!.dealing, donHash: "0x00" }],
])("bounds: %s is no dealing", (_, given) => {
  expect(parseDealing(given, 3)).toBeUndefined();
});
