import { createRequire } from "node:module";
import { hexToString } from "viem";
import { describe, expect, test } from "vitest";
import { faultyNodesOf } from "../../src/chainlink/quorum.ts";
import {
  combineDealings,
  createDealer,
  firstGenerator,
  isPartOf,
  isShareOf,
  parseDealing,
  parseHandedOn,
} from "../../src/secrets/keyGeneration.ts";
import {
  checkShare,
  CiphertextError,
  combineShares,
  decrypt,
  encrypt,
  makeShare,
  NO_LABEL,
  parseCiphertext,
  type ThresholdPublicKey,
} from "../../src/secrets/tdh2.ts";

/** The reference: what functions-toolkit 0.3.2 encrypts with. */
const load = createRequire(createRequire(import.meta.url).resolve("@chainlink/functions-toolkit"));
const reference = load("./tdh2.js") as { encrypt(key: object, message: Buffer): string };
const simulation = load("./simulationConfig.js") as {
  readonly simulatedSecretsKeys: {
    readonly thresholdKeys: {
      readonly publicKey: string;
      readonly privateKeyShares: Readonly<Record<string, string>>;
    };
  };
};

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

  test("all nodes have the same public keys, and the DON's key, and a share each", () => {
    const publicOf = ({ thresholdPublicKey, donPublicKey, donSecretKey }: (typeof keys)[number]) => [
      thresholdPublicKey,
      donPublicKey,
      donSecretKey,
    ];
    for (const key of keys) expect(publicOf(key)).toEqual(publicOf(keys[0]!));
    expect(new Set(keys.map(({ share }) => share)).size).toBe(nodes);
  });

  test("as many nodes as needed open what the toolkit encrypts, whichever they are", async () => {
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

test("a node deals the same again, and reads what others publish of theirs", () => {
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

/** Hands a key on to other nodes by dealings of as many former nodes as opened a ciphertext, beginning at one. */
function handOn(former: ReturnType<typeof generate>, nodes: number, first = 0) {
  const needed = 2 * faultyNodesOf(nodes) + 1;
  const dealers = former.keys.map((_, index) => index).slice(first, first + former.needed);
  const dealt = dealers.map((index) => createDealer(seed(100 + index), needed, former.keys[index]!.share));
  const dealings = dealt.map(({ dealing }) => dealing);
  const handover = { dealers, nodes, configDigest: `0x${"05".repeat(32)}` } as const;
  const keys = Array.from({ length: nodes }, (_, index) =>
    combineDealings(
      dealings,
      dealt.map((one) => one.partOf(index)),
      handover,
    ),
  );
  return { needed, dealers, dealings, keys };
}

test.each([
  [4, 4, 0],
  [4, 4, 1],
  [4, 7, 1],
  [7, 4, 2],
  [10, 13, 2],
])(
  "%i nodes hand their key on to %i, by dealings from index %i on, and former shares don't fit the new ones",
  async (before, after, first) => {
    const former = generate(before);
    const { needed, dealers, dealings, keys: taken } = handOn(former, after, first);
    const old = former.keys[0]!.threshold;
    const { threshold } = taken[0]!;
    expect(threshold.H).toBe(old.H);
    expect(taken.every(({ thresholdPublicKey }) => thresholdPublicKey === taken[0]!.thresholdPublicKey)).toBe(
      true,
    );
    for (const [k, dealing] of dealings.entries())
      expect(old.HArray.map((one) => isShareOf(dealing, one))).toEqual(
        old.HArray.map((_, index) => index === dealers[k]),
      );
    const parsed = parseCiphertext(reference.encrypt(old, Buffer.from(MESSAGE)), old);
    const pointOf = (index: number, keys: readonly { readonly share: bigint }[], { HArray } = threshold) =>
      checkShare(parsed.u, HArray[index]!, makeShare(parsed.u, keys[index]!.share))!;
    const points = new Map(
      taken.slice(-needed).map((_, k) => [after - needed + k, pointOf(after - needed + k, taken)]),
    );
    expect(Buffer.from(await decrypt(parsed, combineShares(points))).toString()).toBe(MESSAGE);
    // A share of a node that left, in place of one of the present ones.
    points.delete(after - 1);
    await expect(decrypt(parsed, combineShares(points))).rejects.toThrow("another key");
    points.set(0, pointOf(0, former.keys, old));
    await expect(decrypt(parsed, combineShares(points))).rejects.toThrow("another key");
  },
);

test("after a handover, what names a dapp can be opened as before, and what names nobody if it was made since", async () => {
  const former = generate(4);
  const { threshold: old } = former.keys[0]!;
  const { threshold } = handOn(former, 4).keys[0]!;
  expect([firstGenerator(threshold), threshold.G_bar === old.G_bar]).toEqual([old.G_bar, false]);
  const make = (key: typeof old, label: Uint8Array) => encrypt(key, Buffer.from(MESSAGE), label);
  const label = seed(1);
  for (const key of [old, threshold])
    expect(parseHandedOn(await make(key, label), threshold).label).toEqual(label);
  expect(parseHandedOn(await make(threshold, NO_LABEL), threshold).label).toEqual(NO_LABEL);
  const nameless = await make(old, NO_LABEL);
  expect(parseHandedOn(nameless, old).label).toEqual(NO_LABEL);
  expect(() => parseHandedOn(nameless, threshold)).toThrow("names nobody");
  // A label can't be added to it.
  const outer = JSON.parse(nameless) as { TDH2Ctxt: string };
  const inner = { ...(JSON.parse(atob(outer.TDH2Ctxt)) as object), Label: btoa("\u0001".repeat(32)) };
  const changed = JSON.stringify({ ...outer, TDH2Ctxt: btoa(JSON.stringify(inner)) });
  expect(() => parseHandedOn(changed, threshold)).toThrow("proof does not hold");
});

test("the shares that functions-toolkit publishes of its test key open what it encrypts to it", async () => {
  const { thresholdKeys } = simulation.simulatedSecretsKeys;
  const key = JSON.parse(thresholdKeys.publicKey) as ThresholdPublicKey;
  const ciphertext = parseCiphertext(reference.encrypt(key, Buffer.from("message")), key);
  const shares = Object.values(thresholdKeys.privateKeyShares).map(
    (share) => JSON.parse(share) as { readonly Index: number; readonly V: string },
  );
  const points = shares.map(({ Index, V }) => {
    const share = makeShare(ciphertext.u, BigInt(`0x${Buffer.from(V, "base64").toString("hex")}`));
    return [Index, checkShare(ciphertext.u, key.HArray[Index]!, share)!] as const;
  });
  const open = async (of: typeof points): Promise<string> =>
    Buffer.from(await decrypt(ciphertext, combineShares(new Map(of)))).toString();
  expect(await open(points.slice(0, 2))).toBe("message");
  expect(await open(points.slice(2))).toBe("message");
  await expect(open(points.slice(0, 1))).rejects.toThrow(CiphertextError);
});
