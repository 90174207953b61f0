import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ERROR_TABLE } from "../../src/http/errorTable.ts";

const page = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8");

/** Reads the cells of the table between two comments of the page. */
const readTable = (name: string): (readonly string[])[] => {
  const section = new RegExp(`<!-- ${name} -->(.*?)<!-- /${name} -->`, "s").exec(page)?.[1] ?? "";
  return section
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) =>
      line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim().replace(/^`([a-z_]+)`$/, "$1")),
    );
};
const rows = readTable("errors");
const operatorRows = readTable("operator errors");

test("docs/errors.md lists every code with its status, meaning and remedy, and no other", () => {
  const documented = Object.fromEntries(
    rows.map(([code, status, meaning, remedy]) => [code, { status: Number(status), meaning, remedy }]),
  );
  expect(documented).toEqual(ERROR_TABLE);
});

/** All source code except the table itself. */
const root = new URL("../../", import.meta.url).pathname;
const source = globSync("src/**/*.ts", { cwd: root })
  .filter((file) => !file.endsWith("http/errorTable.ts"))
  .map((file) => readFileSync(root + file, "utf8"))
  .join("\n");

test("docs/errors.md lists every code of the source, for callers or for operators, and no other", () => {
  const used = [...source.matchAll(/\bcode: "([a-z_]+)"/g)].map(([, code]) => code ?? "");
  const told = operatorRows.map(([code]) => code ?? "");
  expect(told.filter((code) => code in ERROR_TABLE)).toEqual([]);
  expect(new Set(used.filter((code) => !(code in ERROR_TABLE)))).toEqual(new Set(told));
  expect(told.length).toBe(new Set(told).size);
});

test("docs/errors.md says of every operator's code what it means and what to do", () => {
  for (const row of operatorRows)
    expect(row).toEqual([row[0], expect.stringMatching(/\.$/), expect.stringMatching(/\.$/)]);
});

test.each(Object.keys(ERROR_TABLE))("%s, of the table, is used", (code) => {
  expect(source).toMatch(new RegExp(`["(]${code}[")]|\\.${code}\\b`));
});

test("every status is an error, and codes are snake_case", () => {
  for (const [code, { status }] of Object.entries(ERROR_TABLE)) {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
  }
});
