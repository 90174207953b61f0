import { globSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { LAYERS, ROOMS } from "../../oxlint.config.ts";

const FOLDERS = [...new Set(globSync("src/**/*.{ts,tsx}").map(dirname))];
const namesBelow = (folder: string): string[] =>
  [
    ...new Set(
      FOLDERS.filter((one) => one.startsWith(`${folder}/`)).map(
        (one) => one.slice(folder.length + 1).split("/")[0]!,
      ),
    ),
  ].toSorted();

test("the linter's table lists every folder of src as a layer", () => {
  expect(Object.keys(LAYERS).toSorted()).toEqual(namesBelow("src"));
});

test.each(Object.keys(LAYERS))("the linter's table lists every folder of src/%s as a room", (layer) => {
  expect(Object.keys(ROOMS[layer] ?? {}).toSorted()).toEqual(namesBelow(`src/${layer}`));
});

test.each([["layers", LAYERS] as const, ...Object.entries(ROOMS)])("arrows point one way: %s", (_, table) => {
  const reached = (from: string, seen: readonly string[] = []): boolean =>
    seen.includes(from) || (table[from] ?? []).some((to) => reached(to, [...seen, from]));
  expect(Object.keys(table).filter((one) => reached(one))).toEqual([]);
});
