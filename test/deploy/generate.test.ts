import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { generate } from "../../deploy/generate.ts";
import { renderGuide } from "../../src/lib/markdown.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(path.join(ROOT, file), "utf8");
const page = read("docs/operations.md");
const files = generate(page);
/** Metrics of Prometheus itself, and those that prom-client adds for every Node process. */
const OTHERS = ["up", "nodejs_eventloop_lag_p99_seconds", "process_resident_memory_bytes"];

test("the committed files are what the page says; run `npm run deploy:files`", () => {
  for (const [name, content] of Object.entries(files)) expect(read(`deploy/${name}`)).toBe(content);
});

test("every alert of the page becomes a rule, and every row of its table a panel", () => {
  const alerts = page.match(/^\*\*Tyche\w+\*\*/gm)!;
  expect(files["alerts.yml"]!.match(/- alert: /g)).toHaveLength(alerts.length);
  const rows = page.slice(page.indexOf("### For dashboards")).match(/^\| [A-Z]/gm)!;
  const { panels } = JSON.parse(files["dashboard.json"]!) as { readonly panels: readonly unknown[] };
  expect(panels).toHaveLength(rows.length);
});

test("every rule links to a section of the page, and says which network it is about", () => {
  const rules = files["alerts.yml"]!.split("- alert: ").slice(1);
  const ids = renderGuide(page, "docs/operations.md").map(({ attributes }) => attributes["id"]);
  for (const rule of rules) {
    expect(rule).toContain("$labels.network");
    const section = /runbook_url: https:\/\/tyche\.example\.org\/docs\/operations#(.+)/.exec(rule)![1];
    expect(ids).toContain(section);
    const before = page.slice(0, page.indexOf(`**${/\w+/.exec(rule)![0]}**`));
    const heading = before.match(/^#+ .+$/gm)!.at(-1)!;
    expect(
      heading
        .toLowerCase()
        .replaceAll(/[^a-z ]/g, "")
        .trim()
        .replaceAll(" ", "-"),
    ).toBe(section);
  }
});

test("rules and panels name only metrics that a process has", () => {
  const sources = globSync("src/**/*.ts", { cwd: ROOT }).map(read).join("\n");
  const known = new Set([...sources.matchAll(/"(tyche_\w+)"/g)].map(([, name]) => name!));
  const dashboard = JSON.parse(files["dashboard.json"]!) as {
    readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
  };
  const expressions = [
    ...[...files["alerts.yml"]!.matchAll(/expr: (.+)/g)].map(([, text]) => JSON.parse(text!) as string),
    ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ];
  const named = expressions
    .flatMap((text) => text.replaceAll(/"[^"]*"/g, "").match(/\b(?:tyche|process|nodejs)_\w+|^up\b/g) ?? [])
    .map((name) => name.replace(/_(?:bucket|sum|count)$/, ""));
  expect(named.length).toBeGreaterThan(30);
  expect([...new Set(named)].filter((name) => !known.has(name) && !OTHERS.includes(name))).toEqual([]);
});
