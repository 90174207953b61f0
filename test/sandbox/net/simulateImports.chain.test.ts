import { expect, test } from "vitest";
import { simulateScript } from "../../../sandbox/simulateScript.ts";

const caught = async (specifier: string) => {
  const source = `try { await import(${JSON.stringify(specifier)}); } catch (e) { return Functions.encodeString(e.name + ': ' + e.message); }`;
  const { responseBytesHexstring = "0x", errorString } = await simulateScript({ source });
  return errorString ?? Buffer.from(responseBytesHexstring.slice(2), "hex").toString();
};

test("a developer's sources import what they hold themselves", async () => {
  const source =
    "const m = await import('data:text/javascript,export default 7'); return Functions.encodeUint256(m.default);";
  expect(await simulateScript({ source })).toMatchObject({ responseBytesHexstring: `0x${"0".repeat(63)}7` });
});

test("hosts that Deno doesn't trust by default are refused in its words", async () => {
  const text =
    'TypeError: Requires import access to "example.com:443", run again with the --allow-import flag';
  expect(await caught("https://example.com/a.js")).toBe(text);
});

test("what is no module says so as in Deno", async () => {
  expect(await caught("node:nope")).toBe("TypeError: No such built-in module: node:nope");
  expect(await caught("lodash")).toBe('TypeError: Import "lodash" not a dependency');
});
