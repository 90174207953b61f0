import { expect, test } from "vitest";
import { fromHexText } from "../../src/lib/hex.ts";
import { decodeSecretsReference, encodeSecretsReference } from "../../src/secrets/secretsReference.ts";
import { CiphertextError } from "../../src/secrets/tdh2.ts";

test("reads the toolkit's reference", () => {
  // From `buildDONHostedEncryptedSecretsReference` of functions-toolkit 0.3.2 under Node 20.
  const bytes = fromHexText("0xa266736c6f744964036776657273696f6e1a69278e40");
  expect(decodeSecretsReference(bytes)).toEqual({ slots: [{ slotId: 3, version: 1_764_200_000 }] });
});

test("reads what it writes", () => {
  const reference = {
    owner: "0x00112233445566778899aabbccddeeff00112233",
    slots: [
      { slotId: 0, version: 1 },
      { slotId: 70_000, version: 1_764_200_000 },
    ],
  } as const;
  expect(decodeSecretsReference(fromHexText(encodeSecretsReference(reference)))).toEqual(reference);
});

test("bounds: a slot is named once", () => {
  const owner = `0x${"0a".repeat(20)}` as const;
  const twice = encodeSecretsReference({
    owner,
    slots: [
      { slotId: 3, version: 1 },
      { slotId: 3, version: 1 },
    ],
  });
  expect(() => decodeSecretsReference(fromHexText(twice))).toThrow(CiphertextError);
});

test.each([
  "0x",
  "0xa0",
  "0x80",
  "0xff",
  "0xa166736c6f74496403",
  "0xa266736c6f744964206776657273696f6e01",
] as const)("bounds: %s is no reference", (hex) => {
  expect(() => decodeSecretsReference(fromHexText(hex))).toThrow(CiphertextError);
});
