import { scryptSync } from "node:crypto";
import { expect, test } from "vitest";
import { deriveScryptKey } from "../../src/evm/scrypt.ts";

/** RFC 7914, section 12. */
test.each([
  [
    "",
    "",
    16,
    1,
    1,
    "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906",
  ],
  [
    "password",
    "NaCl",
    1_024,
    8,
    16,
    "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640",
  ],
])("default: RFC 7914's vector of %j and %j", (password, salt, n, r, p, expected) => {
  const key = deriveScryptKey(Buffer.from(password), Buffer.from(salt), { n, r, p, bytes: 64 });
  expect(key.toString("hex")).toBe(expected);
});

test("behaviour: the same key as OpenSSL's", () => {
  const [password, salt] = [Buffer.from("pässword"), Buffer.from("0123456789abcdef")];
  const parameters = { n: 256, r: 3, p: 2 };
  expect(deriveScryptKey(password, salt, { ...parameters, bytes: 32 })).toEqual(
    scryptSync(password, salt, 32, { N: 256, r: 3, p: 2 }),
  );
});
