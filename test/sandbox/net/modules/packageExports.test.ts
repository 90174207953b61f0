import { expect, test } from "vitest";
import {
  IMPORT_CONDITIONS,
  REQUIRE_CONDITIONS,
  resolveExports,
} from "../../../../sandbox/host/net/modules/packageExports.ts";

const FIELD = {
  ".": { deno: "./deno.js", import: "./i.js", default: "./d.js" },
  "./nested": { node: { require: "./r.cjs", import: "./i.mjs" }, default: "./d.js" },
  "./order": { default: "./first.js", import: "./never.js" },
  "./types": { types: "./t.d.ts", browser: "./b.js" },
  "./list": [{ browser: "./b.js" }, "./l.js"],
  "./null": null,
  "./features/*": "./src/*.js",
  "./features/internal/*": null,
  "./features/*.css": "./css/*.css",
  "./twice/*": "./*/*.js",
};

test.each([
  [".", "./deno.js"],
  ["./nested", "./i.mjs"],
  ["./order", "./first.js"],
  ["./types", null],
  ["./list", "./l.js"],
  ["./null", null],
  ["./features/x", "./src/x.js"],
  ["./features/x/y", "./src/x/y.js"],
  ["./features/internal/x", null],
  ["./features/x.css", "./css/x.css"],
  ["./twice/x", "./x/x.js"],
  ["./features/", null],
  ["./features/*", "./src/*.js"],
  ["./features/../../secret", null],
  ["./features/node_modules/x", null],
  ["./other", null],
  ["./__proto__", null],
  ["./constructor", null],
])("%s means %s", (subpath, expected) => {
  expect(resolveExports(FIELD, subpath, IMPORT_CONDITIONS)).toBe(expected);
});

test("require has its own condition", () => {
  expect(resolveExports(FIELD, "./nested", REQUIRE_CONDITIONS)).toBe("./r.cjs");
});

test.each([
  ["a string", "./main.js", "./main.js"],
  ["conditions", { import: "./i.js" }, "./i.js"],
  ["a list", ["./l.js"], "./l.js"],
  ["a number", 5, null],
  ["nothing", undefined, null],
])("%s stands for the main entry", (_what, field, expected) => {
  expect(resolveExports(field, ".", IMPORT_CONDITIONS)).toBe(expected);
});

test("nesting without end is given up", () => {
  let field: unknown = "./x.js";
  for (let depth = 0; depth < 10_000; depth += 1) field = { import: field };
  expect(resolveExports(field, ".", IMPORT_CONDITIONS)).toBeNull();
});

test("imports lead to files and to packages", () => {
  const imports = { "#a": "./a.js", "#b/*": "./b/*.js", "#c": { deno: "node:crypto", default: "c" } };
  const of = (name: string) => resolveExports(imports, name, IMPORT_CONDITIONS);
  expect([of("#a"), of("#b/x"), of("#c"), of("#d")]).toEqual(["./a.js", "./b/x.js", "node:crypto", null]);
});
