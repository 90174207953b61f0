import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { FAULTS } from "./catalogue/catalogue.ts";
import { FILES, FILES_OF_KILLED } from "./damages.ts";

const DOCS = path.resolve(import.meta.dirname, "../../docs/faults.md");

test("the documentation has every fault and every file, in the catalogue's order", () => {
  const text = readFileSync(DOCS, "utf8")
    .split(/^## /m)
    .filter((section) => /^(?:Under load|Files of a stopped service)$/m.test(section))
    .join("");
  const names = [...text.matchAll(/^\| ([^|]+) \|/gm)].map(([, name]) => name);
  expect(names.filter((name) => name !== "---")).toEqual([
    "Fault",
    ...FAULTS.map(({ name }) => name),
    "File",
    ...FILES,
    ...FILES_OF_KILLED.map((file) => `${file} of a killed service`),
  ]);
});
