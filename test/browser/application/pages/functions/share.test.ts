import { deflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import {
  decodeFragment,
  encodeFragment,
} from "../../../../../src/browser/application/pages/functions/share.ts";
import type { Draft } from "../../../../../src/browser/application/pages/functions/draft.ts";

const DRAFT: Draft = {
  source: 'return Functions.encodeString("ünï 🎲 `${args[0]}` \\n");\n',
  args: ["one", "", "line\nbreak"],
  returnType: "string",
  network: "sepolia",
};
const pack = (value: unknown): string =>
  `#v1.${deflateRawSync(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url")}`;

test("a draft comes back as it went", async () => {
  const fragment = await encodeFragment(DRAFT);
  expect(fragment).toMatch(/^#v1\.[\w-]+$/);
  expect(await decodeFragment(fragment)).toEqual(DRAFT);
});

test("a link names no secrets: whoever opens it decides", async () => {
  const fragment = await encodeFragment({ ...DRAFT, secrets: ["API_KEY"] });
  expect(await decodeFragment(fragment)).toEqual(DRAFT);
});

test("members that no draft has are left out", async () => {
  expect(await decodeFragment(pack({ ...DRAFT, dapp: "theirs" }))).toEqual(DRAFT);
});

test.each([
  ["nothing", ""],
  ["another fragment", "#main"],
  ["no base64url", "#v1.!!"],
  ["nothing packed", "#v1.AAAA"],
  ["no JSON", pack("{")],
  ["no object", pack("null")],
  ["no UTF-8", `#v1.${deflateRawSync(Uint8Array.of(0xff, 0xfe)).toString("base64url")}`],
  ["a source that is no text", pack({ ...DRAFT, source: 7 })],
  ["arguments that are no texts", pack({ ...DRAFT, args: [7] })],
  ["another type", pack({ ...DRAFT, returnType: "bytes" })],
  ["a text that fills the memory", pack({ ...DRAFT, source: " ".repeat(64 * 2 ** 20) })],
  ["a little too much", pack({ ...DRAFT, source: "x".repeat(262_144) })],
])("a link with %s holds no draft", async (_, fragment) => {
  expect(await decodeFragment(fragment)).toBeUndefined();
});
