import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const root = new URL("../../", import.meta.url);
const readme = readFileSync(new URL("README.md", root), "utf8");
const map = readme.slice(readme.indexOf("## Map of the code"));

/** Names of files and folders in code marks; those under `plugins` are of presets that a reader makes. */
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/`((?:src|sandbox|test|bench|docs)\/[^`\s]*)`/g)].map(([, path]) => path!);

test("default: every file that the README names is there", () => {
  const paths = pathsIn(readme);
  expect(paths.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  expect(paths).toContain("src/evm/fees.ts");
});

test("behaviour: every answer to a question about the code names a file", () => {
  const rows = map.split("\n").filter((line) => /^\| [A-Z].*\? \|/.test(line));
  const [waits, tooMany, killed, gas, network] = rows;
  expect(waits).toContain("how long a call waits");
  expect(tooMany).toContain("429");
  expect(killed).toContain("kill -9");
  expect(gas).toContain("gas prices");
  expect(network).toContain("add a network");
  expect(rows.filter((row) => pathsIn(row).length === 0)).toEqual([]);
});

test("behaviour: the map has every folder of src, and no other", () => {
  const lines = map.split("\n").filter((line) => line.startsWith("src/"));
  const named = lines.flatMap((line) => line.slice("src/".length).split(/ {3,}/)[0]!.split(/ +/));
  expect(named.toSorted()).toEqual(readdirSync(new URL("src", root)).toSorted());
});
