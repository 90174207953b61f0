import { expect, test } from "vitest";
import { findMachineName } from "../../src/verify/machineName.ts";

test.each([
  ["return Functions.encodeString(new Error().stack)", "stack"],
  ["const { stack: at } = new Error(); return Functions.encodeString(at)", "stack"],
  ["return Functions.encodeString(new Error()['stack'])", "stack"],
  ["return Functions.encodeString((1.5).toLocaleString())", "toLocaleString"],
  ["return Functions.encodeUint256(Deno.pid)", "Deno"],
  ["return Functions.encodeString(`${process.pid}`)", "process"],
  ["return Functions.encodeUint256({ n: navigator.hardwareConcurrency }.n)", "navigator"],
  ["const o = { Intl }; return Functions.encodeString(o.Intl.Collator.name)", "Intl"],
  ["try { f() } catch (e) { if (e instanceof RangeError) n = 1 }", "RangeError"],
  ["}); Deno.pid; (async () => {", "Deno"],
])("%s uses %s", (source, name) => {
  expect(findMachineName(source)).toBe(name);
});

test.each([
  "// Deno, process, stack\nreturn Functions.encodeString('Intl')",
  "return Functions.encodeString(`the ${'stack'} of /* Deno */`)",
  "throw new RangeError('memory')",
  "const o = { stack: 1, process: 2, Intl() {} }; return Functions.encodeUint256(o.process)",
  "const f = (process, [navigator], { a: Deno = 1, ...Intl }) => process; return f(args)",
  "class WeakRef { Deno = 1 } try { new WeakRef() } catch (process) { process }",
  "const x: number = Deno.pid",
  `return Functions.encodeUint256(${"(".repeat(9_000)}1${")".repeat(9_000)})`,
])("nothing in %s", (source) => {
  expect(findMachineName(source)).toBeUndefined();
});
