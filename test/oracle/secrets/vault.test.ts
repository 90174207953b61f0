import { encode } from "cborg";
import type { Hex } from "viem";
import { toHexText } from "../../../src/lib/hex.ts";
import { afterEach, expect, test, vi } from "vitest";
import { createVault, digestOf, type Slot } from "../../../src/oracle/secrets/vault.ts";
import { createSecretKeys } from "../../../src/secrets/secretKeys.ts";
import { sealSecret } from "../../../src/secrets/sealSecret.ts";
import { encodeSecretsReference } from "../../../src/secrets/secretsReference.ts";
import { secretsLabel } from "../../../src/secrets/sealedSecrets.ts";
import { CiphertextError, NO_LABEL, parseCiphertext } from "../../../src/secrets/tdh2.ts";
import { sealEcies } from "../../support/ethCrypto.ts";

const OWNER = `0x${"0a".repeat(20)}` as const;
const ROUTER = `0x${"0b".repeat(20)}` as const;
const keys = createSecretKeys({
  don: new Uint8Array(32).fill(1),
  threshold: new Uint8Array(32).fill(2),
});

/** Creates a vault with one slot of the owner of all subscriptions, which counts how often a ciphertext is opened. */
async function vaultWith(
  subscriptionId: bigint,
  {
    expiresAt = Number.MAX_SAFE_INTEGER,
    label = secretsLabel({ chainId: 1, router: ROUTER, subscriptionId }),
    findUploader = async () => OWNER,
    recall,
  }: {
    readonly expiresAt?: number;
    readonly label?: Uint8Array;
    readonly findUploader?: (seenBlock: bigint | undefined) => Promise<Hex | undefined>;
    /** Returns what other nodes hold, for a vault that holds nothing. */
    readonly recall?: (slot: Slot) => readonly Slot[];
  } = {},
) {
  const ciphertext = await sealSecret(keys.threshold, { name: "KEY", value: "s3cr3t" }, label);
  const slot: Slot = { owner: OWNER, slotId: 0, version: 1, ciphertext, expiresAt };
  let [opened, asked, fetched] = [0, 0, 0];
  let held = recall === undefined ? slot : undefined;
  const owners = new Map<Hex, Hex>();
  const vault = createVault({
    openerFor: () => ({
      ...keys,
      open: (...call) => {
        opened += 1;
        return keys.open(...call);
      },
    }),
    parse: (text) => parseCiphertext(text, keys.threshold),
    chainId: 1,
    router: ROUTER,
    recall: recall && (async () => recall(slot)),
    slots: {
      save: async (saved) => Boolean((held = saved)),
      claim: async (u, owner) => owners.get(u) ?? (owners.set(u, owner), owner),
      find: async (_, slotId) => held && { ...held, slotId },
      list: async () => [slot],
      listNames: async () => [slot],
      deleteExpired: async () => {},
      delete: async () => void (held = undefined),
    },
    authority: {
      findUploader(_, seenBlock) {
        asked += 1;
        return findUploader(seenBlock);
      },
      isOperator: async () => true,
      mayUpload: async () => true,
      isService: async () => false,
    },
    fetchText: async () => {
      fetched += 1;
      return JSON.stringify({ encryptedSecrets: toHexText(Buffer.from(ciphertext)) });
    },
  });
  return { vault, ciphertext, opened: () => opened, asked: () => asked, fetched: () => fetched };
}

const reference = { slots: [{ slotId: 0, version: 1 }] };
/** Where a request that names the slot is on chain. */
const of = { requestId: "0x01", subscriptionId: 5n, blockNumber: 7n } as const;

test("what was opened once isn't decrypted again", async () => {
  const { vault, opened } = await vaultWith(5n);
  for (let i = 0; i < 3; i += 1)
    expect(await vault.open(reference, 5n)).toEqual([{ name: "KEY", value: "s3cr3t" }]);
  expect(opened()).toBe(1);
});

test("what can't be opened isn't tried again", async () => {
  const { vault, opened } = await vaultWith(6n);
  for (let i = 0; i < 3; i += 1) await expect(vault.open(reference, 5n)).rejects.toThrow(CiphertextError);
  expect(opened()).toBe(1);
});

test("as the operator's, no ciphertext is opened that any account may have uploaded", async () => {
  const { vault, ciphertext } = await vaultWith(5n, { label: NO_LABEL });
  const { slots } = reference;
  const named = {
    secrets: encodeSecretsReference({ owner: OWNER, slots }),
    secretsLocation: 2,
  };
  const found = vault.findNamed(named, of, digestOf(ciphertext));
  for (const refused of [vault.openRequest(named, of), vault.open({ owner: OWNER, slots }, 5n), found])
    await expect(refused).rejects.toThrow("for somebody else");
  await expect(vault.open(reference, 5n)).rejects.toThrow("not functions-toolkit's");
});

test("what is deleted while other nodes are asked for it doesn't come back, nor does what can't be opened", async () => {
  const { vault, ciphertext } = await vaultWith(5n, { recall: () => [] });
  const slot: Slot = { owner: OWNER, slotId: 0, version: 1, ciphertext, expiresAt: Number.MAX_SAFE_INTEGER };
  const asking = Promise.withResolvers<readonly Slot[]>();
  const keeping = vault.keepRecalled(() => asking.promise);
  await vault.drop(OWNER, [0]);
  asking.resolve([slot]);
  await keeping;
  expect(await vault.findHeld(OWNER, [slot])).toEqual([]);
  await vault.keepRecalled(async () => [{ ...slot, ciphertext: "{}" }]);
  expect(await vault.findHeld(OWNER, [slot])).toEqual([]);
  await vault.keepRecalled(async () => [slot]);
  expect(await vault.findHeld(OWNER, [slot])).toEqual([slot]);
});

afterEach(() => void vi.useRealTimers());

test("what expires after a request was seen is neither opened nor shared, though it was before", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 });
  const { vault, ciphertext } = await vaultWith(5n, { expiresAt: 1_000_001 });
  const named = {
    secrets: toHexText(encode({ slotId: 0, version: 1 })),
    secretsLocation: 2,
  };
  const read = () => [
    vault.openRequest(named, of),
    vault.findNamed(named, of, digestOf(ciphertext)),
    vault.open(reference, 5n),
  ];
  await Promise.all(read());
  vi.setSystemTime(1_000_001);
  for (const one of read()) await expect(one).rejects.toThrow("has expired");
});

test("however often other nodes ask, the chain is read once a second for a request", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const { vault, ciphertext, asked } = await vaultWith(5n);
  const secrets = toHexText(encode({ slotId: 0, version: 1 }));
  const find = (digest: Hex, requestId: Hex = of.requestId) =>
    vault.findNamed({ secrets, secretsLocation: 2 }, { ...of, requestId }, digest);
  for (let i = 0; i < 3; i += 1) {
    await find(digestOf(ciphertext));
    await expect(find(digestOf(`${i}`))).rejects.toThrow("names others");
  }
  expect(asked()).toBe(1);
  await find(digestOf(ciphertext), "0x02");
  expect(asked()).toBe(2);
});

test("what failed, or what too few nodes hold, is looked up again after a second", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const named = {
    secrets: toHexText(encode({ slotId: 0, version: 1 })),
    secretsLocation: 2,
  };
  const answers = [
    async () => Promise.reject(new CiphertextError("the first failure")),
    async () => Promise.reject(new Error("the second failure")),
    async () => OWNER,
    async () => OWNER,
  ];
  let recalled = 0;
  const { vault, asked } = await vaultWith(5n, {
    findUploader: () => answers[asked() - 1]!(),
    recall: (slot) => ((recalled += 1) > 1 ? [slot] : []),
  });
  for (const failure of ["the first failure", "the second failure", "has no version"]) {
    for (let i = 0; i < 3; i += 1) await expect(vault.openRequest(named, of)).rejects.toThrow(failure);
    vi.advanceTimersByTime(1_000);
  }
  expect([asked(), recalled]).toEqual([3, 1]);
  expect(await vault.openRequest(named, of)).toEqual([{ name: "KEY", value: "s3cr3t" }]);
  expect([asked(), recalled]).toEqual([4, 2]);
});

test.each([
  ["slot", { secrets: toHexText(encode({ slotId: 0, version: 1 })), secretsLocation: 2 }],
  [
    "document",
    { secrets: await sealEcies(keys.donPublicKey, "https://documents.example/1"), secretsLocation: 1 },
  ],
] as const)(
  "what is in a %s is opened for a request as long as its uploader consents, at its block or later",
  async (place, named) => {
    vi.useFakeTimers({ toFake: ["performance"] });
    let uploader: Hex | undefined = OWNER;
    const seen = new Set<bigint | undefined>();
    const { vault, ciphertext, fetched } = await vaultWith(5n, {
      async findUploader(seenBlock) {
        seen.add(seenBlock);
        return uploader;
      },
    });
    const read = () => [vault.openRequest(named, of), vault.findNamed(named, of, digestOf(ciphertext))];
    const [secrets] = await Promise.all(read());
    expect(secrets).toEqual([{ name: "KEY", value: "s3cr3t" }]);
    uploader = undefined;
    vi.advanceTimersByTime(1_000);
    for (const one of read()) await expect(one).rejects.toThrow("nobody may upload");
    uploader = OWNER;
    vi.advanceTimersByTime(1_000);
    await Promise.all(read());
    expect([...seen]).toEqual([of.blockNumber]);
    expect(fetched()).toBe(place === "document" ? 1 : 0);
  },
);
