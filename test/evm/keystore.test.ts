import { expect, test } from "vitest";
import { Wallet, encryptKeystoreJsonSync } from "ethers";
import { readKeystore } from "../../src/evm/keystore.ts";

/** Test vectors of Web3 Secret Storage: https://ethereum.org/en/developers/docs/data-structures-and-encoding/web3-secret-storage/ */
const SECRET_KEY = "7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d";
const PASSWORD = "testpassword";
const PBKDF2 = {
  crypto: {
    cipher: "aes-128-ctr",
    cipherparams: { iv: "6087dab2f9fdbbfaddc31a909735c1e6" },
    ciphertext: "5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46",
    kdf: "pbkdf2",
    kdfparams: {
      c: 262_144,
      dklen: 32,
      prf: "hmac-sha256",
      salt: "ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd",
    },
    mac: "517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2",
  },
  id: "3198bc9c-6672-5ab3-d995-4942343ae5b6",
  version: 3,
};
const SCRYPT = {
  crypto: {
    cipher: "aes-128-ctr",
    cipherparams: { iv: "83dbcc02d8ccb40e466191a123791e0e" },
    ciphertext: "d172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c",
    kdf: "scrypt",
    kdfparams: {
      dklen: 32,
      n: 262_144,
      p: 8,
      r: 1,
      salt: "ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19",
    },
    mac: "2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097",
  },
  id: "3198bc9c-6672-5ab3-d995-4942343ae5b6",
  version: 3,
};
const withParts = (parts: object, kdfparams: object = {}) =>
  JSON.stringify({
    ...PBKDF2,
    crypto: { ...PBKDF2.crypto, ...parts, kdfparams: { ...PBKDF2.crypto.kdfparams, ...kdfparams } },
  });

test("reads the specification's vector with PBKDF2", async () => {
  const key = await readKeystore(JSON.stringify(PBKDF2), PASSWORD);
  expect(Buffer.from(key).toString("hex")).toBe(SECRET_KEY);
});

test("reads the specification's vector with scrypt, whose parameters OpenSSL refuses", async () => {
  const key = await readKeystore(JSON.stringify(SCRYPT), PASSWORD);
  expect(Buffer.from(key).toString("hex")).toBe(SECRET_KEY);
});

test("reads what a wallet has written with scrypt", async () => {
  const wallet = new Wallet(`0x${SECRET_KEY}`);
  const file = encryptKeystoreJsonSync(wallet, "pässword", { scrypt: { N: 4_096, r: 8, p: 1 } });
  expect(Buffer.from(await readKeystore(file, "pässword")).toString("hex")).toBe(SECRET_KEY);
});

test.each([
  ["a wrong password", JSON.stringify(PBKDF2), "wrong", "the password is wrong"],
  [
    "a damaged key",
    withParts({ ciphertext: `00${PBKDF2.crypto.ciphertext.slice(2)}` }),
    PASSWORD,
    "password",
  ],
  ["no JSON", "key", PASSWORD, "it is not JSON"],
  ["another version", JSON.stringify({ ...PBKDF2, version: 1 }), PASSWORD, "its version is not 3"],
  ["another cipher", withParts({ cipher: "aes-128-cbc" }), PASSWORD, "its cipher is not aes-128-ctr"],
  ["another kdf", withParts({ kdf: "argon2" }), PASSWORD, "neither scrypt nor pbkdf2"],
  ["rounds for an hour", withParts({}, { c: 10 ** 9 }), PASSWORD, "rounds"],
  [
    "memory for a whole machine",
    withParts({ kdf: "scrypt" }, { n: 2 ** 30, r: 8, p: 1 }),
    PASSWORD,
    "more than 1 GiB",
  ],
  [
    "a cost that is no power of two",
    withParts({ kdf: "scrypt" }, { n: 1_000, r: 8, p: 1 }),
    PASSWORD,
    "RFC 7914",
  ],
  ["a salt that is no hex", withParts({}, { salt: "salt" }), PASSWORD, "its salt is not hex"],
  ["a short key", withParts({ ciphertext: "5318" }), PASSWORD, "its ciphertext is not hex of 32 bytes"],
])("%s", async (_, text, password, reason) => {
  const refused = readKeystore(text, password);
  await expect(refused).rejects.toMatchObject({ message: expect.stringContaining(reason) });
  await expect(refused).rejects.not.toThrow(/5318b4d5|testpassword/);
});
