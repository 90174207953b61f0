import { expect, test } from "vitest";

import { cryptoNatives } from "../../sandbox/host/child/natives/cryptography.ts";

const call = (name: string, header: Readonly<Record<string, unknown>>) => () =>
  cryptoNatives[name]?.(header, new Uint8Array(0));

test.each([
  [{ size: 32, add: "04", rem: "02" }],
  [{ size: 64, add: "64", rem: "32" }],
  [{ size: 64, add: "8000000000000000", rem: "01" }],
  [{ size: 512, safe: true, add: "0c", rem: "01" }],
  [{ size: 64, safe: true, add: "0c" }],
  [{ size: 12, safe: true, add: "2e", rem: "19" }],
  [{ size: 1024, add: "0100000000", rem: "03" }],
])("refuses a prime that OpenSSL would look for too long: %o", (header) => {
  expect(call("prime", header)).toThrow("too few primes");
});

test("refuses to write an encrypted key without a passphrase", () => {
  const { privateKey } = JSON.parse(
    cryptoNatives["keyPair"]?.({ type: "ed25519" }, new Uint8Array(0)) as string,
  ) as { privateKey: string };
  const header = { key: privateKey, format: "pem", type: "pkcs8", cipher: "aes-256-cbc" };
  expect(call("keyExport", header)).toThrow("bytes must be given in hex");
});

test("refuses a Diffie-Hellman prime beyond 4,096 bits", () => {
  expect(call("keyPair", { type: "dh", prime: "ff".repeat(513) })).toThrow("at most 512 bytes");
});
