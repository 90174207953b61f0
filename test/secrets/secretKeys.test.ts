import { createRequire } from "node:module";
import { hexToBytes, hexToString } from "viem";
import { expect, test } from "vitest";
import { createSecretKeys } from "../../src/secrets/secretKeys.ts";
import { openEcies } from "../../src/secrets/ecies.ts";
import { CiphertextError, encrypt, NO_LABEL } from "../../src/secrets/tdh2.ts";
import { sealEcies } from "../support/ethCrypto.ts";

/** The reference: what functions-toolkit 0.3.2 encrypts with. */
const load = createRequire(createRequire(import.meta.url).resolve("@chainlink/functions-toolkit"));
const reference = load("./tdh2.js") as { encrypt(key: object, message: Buffer): string };

const seed = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const keys = createSecretKeys({ don: seed(1), threshold: seed(2) });
const others = createSecretKeys({ don: seed(3), threshold: seed(4) });
const open = async (ciphertext: string, of = keys): Promise<string> =>
  Buffer.from(await of.open(ciphertext, () => true)).toString();

test("opens what the toolkit encrypts to the key that the coordinator publishes", async () => {
  const published = JSON.parse(hexToString(keys.thresholdPublicKey));
  for (let i = 0; i < 20; i += 1) {
    const message = `message ${i} ü`.repeat(i + 1);
    expect(await open(reference.encrypt(published, Buffer.from(message)))).toBe(message);
  }
  await expect(open(reference.encrypt(published, Buffer.from("a")), others)).rejects.toThrow(CiphertextError);
});

test("opens what it encrypts, with its label", async () => {
  const label = seed(7);
  const ciphertext = await encrypt(keys.threshold, Buffer.from("message"), label);
  const labels: Uint8Array[] = [];
  const opened = await keys.open(ciphertext, (parsed) => labels.push(parsed.label) > 0);
  expect(Buffer.from(opened).toString()).toBe("message");
  expect(labels).toEqual([label]);
  await expect(keys.open(ciphertext, () => false)).rejects.toThrow("for somebody else");
});

test("bounds: opens nothing in which a single bit was changed", async () => {
  const whole = JSON.parse(await encrypt(keys.threshold, Buffer.from("message"), NO_LABEL));
  const inner = JSON.parse(Buffer.from(whole.TDH2Ctxt, "base64").toString());
  const changed: object[] = [];
  const flip = (encoded: string, byte: number): string => {
    const bytes = Buffer.from(encoded, "base64");
    bytes[byte % bytes.length]! ^= 1;
    return bytes.toString("base64");
  };
  for (const byte of [0, 1, 17, 31, 64]) {
    for (const name of ["C", "Label", "U", "U_bar", "E", "F"]) {
      const text = JSON.stringify({ ...inner, [name]: flip(inner[name], byte) });
      changed.push({ ...whole, TDH2Ctxt: Buffer.from(text).toString("base64") });
    }
    for (const name of ["SymCtxt", "Nonce"]) changed.push({ ...whole, [name]: flip(whole[name], byte) });
  }
  for (const one of changed) await expect(open(JSON.stringify(one))).rejects.toThrow(CiphertextError);
});

test.each(["", "{}", "[]", "null", '{"TDH2Ctxt":"%","SymCtxt":"","Nonce":""}', '{"TDH2Ctxt":1}'])(
  "bounds: %s is no ciphertext",
  async (text) => {
    await expect(open(text)).rejects.toThrow(CiphertextError);
  },
);

test("opens what eth-crypto encrypts, and nothing that was changed", async () => {
  for (const message of ["a", "message ü", "x".repeat(5_000)]) {
    const sealed = hexToBytes(await sealEcies(keys.donPublicKey, message));
    expect(Buffer.from(openEcies(keys.donSecretKey, sealed)).toString()).toBe(message);
    expect(() => openEcies(others.donSecretKey, sealed)).toThrow(CiphertextError);
    for (const byte of [0, 16, 17, 40, 60, 81, sealed.length - 1]) {
      const changed = Buffer.from(sealed);
      changed[byte]! ^= 1;
      expect(() => openEcies(keys.donSecretKey, changed)).toThrow(CiphertextError);
    }
    expect(() => openEcies(keys.donSecretKey, sealed.subarray(0, 60))).toThrow(CiphertextError);
  }
});

test("opens what the pure build of eccrypto encrypts, which drops leading zeros of the shared x", () => {
  // From eth-crypto without native secp256k1; the shared x begins with a zero, as in every 256th message.
  const sealed =
    "ef88d9f44a3160b908d8b23cc2ff8fb0021e960a0d0b7d096b9b20130b90f47340f5bd9f714959151fcedb006f9f98c861306a3e10cdcfa21f8f480e9a9c4c264f3337b4ee9a862136ca820138516373e443b16469ceaa2e710f78504fdf602c9d";
  expect(Buffer.from(openEcies(keys.donSecretKey, Buffer.from(sealed, "hex"))).toString()).toBe("message");
});
