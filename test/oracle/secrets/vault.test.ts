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
    findUploader = async (): Promise<Hex> => OWNER,
    recall,
  }: {
    readonly expiresAt?: number;
    readonly label?: Uint8Array;
    readonly findUploader?: () => Promise<Hex>;
    /** Returns what other nodes hold, for a vault that holds nothing. */
    readonly recall?: (slot: Slot) => readonly Slot[];
  } = {},
) {
  const ciphertext = await sealSecret(keys.threshold, { name: "KEY", value: "s3cr3t" }, label);
  const slot: Slot = { owner: OWNER, slotId: 0, version: 1, ciphertext, expiresAt };
  let [opened, asked] = [0, 0];
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
      deleteExpired: async () => {},
      delete: async () => {},
    },
    authority: {
      findUploader() {
        asked += 1;
        return findUploader();
      },
      isOperator: async () => true,
      mayUpload: async () => true,
      isService: async () => false,
    },
    fetchText: async () => "",
  });
  return { vault, ciphertext, opened: () => opened, asked: () => asked };
}

const reference = { slots: [{ slotId: 0, version: 1 }] };

test("behaviour: what was opened once isn't decrypted again", async () => {
  const { vault, opened } = await vaultWith(5n);
  for (let i = 0; i < 3; i += 1)
    expect(await vault.open(reference, 5n)).toEqual([{ name: "KEY", value: "s3cr3t" }]);
  expect(opened()).toBe(1);
});

test("behaviour: what can't be opened isn't tried again", async () => {
  const { vault, opened } = await vaultWith(6n);
  for (let i = 0; i < 3; i += 1) await expect(vault.open(reference, 5n)).rejects.toThrow(CiphertextError);
  expect(opened()).toBe(1);
});

test("behaviour: as the operator's, no ciphertext is opened that any account may have uploaded", async () => {
  const { vault, ciphertext } = await vaultWith(5n, { label: NO_LABEL });
  const { slots } = reference;
  const named = {
    secrets: encodeSecretsReference({ owner: OWNER, slots }),
    secretsLocation: 2,
  };
  const of = { requestId: "0x01", subscriptionId: 5n } as const;
  const found = vault.findNamed(named, of, digestOf(ciphertext));
  for (const refused of [vault.openRequest(named, of), vault.open({ owner: OWNER, slots }, 5n), found])
    await expect(refused).rejects.toThrow("for somebody else");
  await expect(vault.open(reference, 5n)).rejects.toThrow("not functions-toolkit's");
});

afterEach(() => void vi.useRealTimers());

test("behaviour: what expires after a request was seen is neither opened nor shared, though it was before", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 });
  const { vault, ciphertext } = await vaultWith(5n, { expiresAt: 1_000_001 });
  const named = {
    secrets: toHexText(encode({ slotId: 0, version: 1 })),
    secretsLocation: 2,
  };
  const of = { requestId: "0x01", subscriptionId: 5n } as const;
  const read = () => [
    vault.openRequest(named, of),
    vault.findNamed(named, of, digestOf(ciphertext)),
    vault.open(reference, 5n),
  ];
  await Promise.all(read());
  vi.setSystemTime(1_000_001);
  for (const one of read()) await expect(one).rejects.toThrow("has expired");
});

test("behaviour: however often other nodes ask, the chain is read once for a request", async () => {
  const { vault, ciphertext, asked } = await vaultWith(5n);
  const secrets = toHexText(encode({ slotId: 0, version: 1 }));
  const find = (digest: Hex, requestId: Hex = "0x01") =>
    vault.findNamed({ secrets, secretsLocation: 2 }, { requestId, subscriptionId: 5n }, digest);
  for (let i = 0; i < 3; i += 1) {
    await find(digestOf(ciphertext));
    await expect(find(digestOf(`${i}`))).rejects.toThrow("names others");
  }
  expect(asked()).toBe(1);
  await find(digestOf(ciphertext), "0x02");
  expect(asked()).toBe(2);
});

test("behaviour: what failed, or what too few nodes hold, is looked up again after a second", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const named = {
    secrets: toHexText(encode({ slotId: 0, version: 1 })),
    secretsLocation: 2,
  };
  const of = { requestId: "0x01", subscriptionId: 5n } as const;
  const answers = [
    async () => Promise.reject(new CiphertextError("the first failure")),
    async () => Promise.reject(new Error("the second failure")),
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
  expect([asked(), recalled]).toEqual([3, 2]);
});
