import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import path from "node:path";
import ivm from "isolated-vm";
import { expect, test } from "vitest";

const FREEZE = path.resolve(import.meta.dirname, "../../../sandbox/guest/freeze.ts");

/** Objects shared by all code of a context, each reached in a different way. */
const SHARED_OBJECTS = [
  "globalThis",
  "Functions",
  "Functions.encodeString",
  "Object.prototype",
  "Function.prototype",
  "[].__proto__",
  "[].map",
  "''.__proto__",
  "(1n).__proto__",
  "Symbol.prototype",
  "Symbol",
  "Error",
  "(() => { try { null.x } catch (error) { return error.__proto__ } })()",
  "new Uint8Array().__proto__.__proto__",
  "Object.getOwnPropertyDescriptor(Uint8Array.prototype.__proto__, 'length').get",
  "(async () => {})().__proto__",
  "(async () => {}).__proto__",
  "(async () => {}).constructor",
  "(function* () {}).__proto__",
  "(function* () {})().__proto__.__proto__",
  "(async function* () {}).constructor.prototype.prototype",
  "[].values().__proto__",
  "[].values().__proto__.__proto__",
  "''[Symbol.iterator]().__proto__",
  "new Map().entries().__proto__",
  "new Set().values().__proto__",
  "''.matchAll(/./g).__proto__",
  "[].values().map((x) => x).__proto__",
  "Iterator.from({ next() {} }).__proto__",
  "JSON",
  "Math",
  "Reflect",
  "Intl.NumberFormat.prototype",
  "WeakRef.prototype",
  "Atomics",
];

/** Creates a frozen context. */
function createFrozen(): { readonly isolate: ivm.Isolate; readonly context: ivm.Context } {
  const isolate = new ivm.Isolate();
  const context = isolate.createContextSync();
  const code = stripTypeScriptTypes(readFileSync(FREEZE, "utf8")).replace("export function", "function");
  context.evalSync(
    `globalThis.Functions = { encodeString: () => {} };\n(() => { ${code}\nfreezeIntrinsics(Functions); })();`,
  );
  return { isolate, context };
}

test("after freezing, nothing that runs have in common can be changed", () => {
  const { isolate, context } = createFrozen();
  const open = SHARED_OBJECTS.filter(
    (expression) => context.evalSync(`Object.isFrozen(${expression})`) !== true,
  );
  isolate.dispose();
  expect(open).toEqual([]);
});

test("after freezing, no regular expression leaves behind what it matched", () => {
  const { isolate, context } = createFrozen();
  const found: unknown = context.evalSync(
    "/(b)/.exec('abc'); JSON.stringify(Object.getOwnPropertyNames(RegExp))",
  );
  isolate.dispose();
  expect(JSON.parse(String(found))).toEqual(["length", "name", "prototype", "escape"]);
});
