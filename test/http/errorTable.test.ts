import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ERROR_TABLE } from "../../src/http/errorTable.ts";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const section = /<!-- errors -->(.*?)<!-- \/errors -->/s.exec(readme)?.[1] ?? "";
const rows = section
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );

test("default: the README lists every code with its status, meaning and remedy, and no other", () => {
  const documented = Object.fromEntries(
    rows.map(([code, status, meaning, remedy]) => [
      code?.replaceAll("`", ""),
      { status: Number(status), meaning, remedy },
    ]),
  );
  expect(documented).toEqual(ERROR_TABLE);
});

test("behaviour: every code that the service and the HTTP layer use is in the table, and each of the table is used", () => {
  const root = new URL("../../", import.meta.url).pathname;
  const files = globSync("src/{http,service}/**/*.ts", { cwd: root }).filter(
    (file) => !file.endsWith("errorTable.ts"),
  );
  const text = files.map((file) => readFileSync(root + file, "utf8")).join("\n");
  const thrown = new Set([...text.matchAll(/\bcode: "([a-z_]+)"/g)].map(([, code]) => code ?? ""));
  for (const code of thrown) expect(Object.keys(ERROR_TABLE)).toContain(code);
  for (const code of Object.keys(ERROR_TABLE))
    expect(text).toMatch(new RegExp(`["(]${code}[")]|\\.${code}\\b`));
});

test("behaviour: every status is an error, and codes are snake_case", () => {
  for (const [code, { status }] of Object.entries(ERROR_TABLE)) {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
  }
});
