/**
 * Writes `alerts.yml`, Prometheus' rules, and `dashboard.json`, Grafana's, from docs/operations.md, which says what to do about each alert:
 * each rule has the address of its section, as the service shows it.
 * `npm run deploy:files` runs it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { slugOf } from "../src/lib/markdown.ts";

const ROOT = path.resolve(import.meta.dirname, "..");
/** Sections of the page, and how urgent their alerts are. */
const SEVERITIES: Readonly<Record<string, string>> = {
  "It does not serve": "page",
  "Requests wait": "page",
  "Requests fail": "ticket",
  Money: "ticket",
  Machine: "ticket",
};
const ALERT =
  /^\*\*(?<name>Tyche\w+)\*\*: `(?<expr>[^`]+)`(?: for (?<time>\d+) (?<unit>min|h))?\.\n(?<text>[^]*?)(?=\n\n|$)/gm;
const PANEL = /^\| (?<title>[^|`]+?) \| `(?<expr>(?:[^`])+)` \|$/gm;

/** Returns the contents of the generated files, by name, given the page. */
export function generate(page: string): Readonly<Record<string, string>> {
  const sections = page.split(/^### /m).map((text) => [text.split("\n", 1)[0]!, text] as const);
  const rules = sections.flatMap(([title, text]) =>
    [...text.matchAll(ALERT)].map(({ groups }) => ruleOf(groups!, title)),
  );
  const [, dashboards = ""] = sections.find(([title]) => title === "For dashboards") ?? [];
  const panels = [...dashboards.matchAll(PANEL)].map(({ groups }, index) => panelOf(groups!, index));
  return {
    "alerts.yml": `# Written by npm run deploy:files from docs/operations.md, which says what to do about each. Put your service's address in place of\n# ${SERVICE}.\ngroups:\n  - name: tyche\n    rules:\n${rules.join("")}`,
    "dashboard.json": `${JSON.stringify(dashboardOf(panels), null, 2)}\n`,
  };
}

/** Stands for the service's address, as in docs/deploy.md, whose command replaces it. */
const SERVICE = "https://tyche.example.org";
/** Prometheus' template for what an alert is about: rules that sum over everything have neither label. */
const SUBJECT = "{{ with or $labels.network $labels.instance }}{{ . }}: {{ end }}";

type Groups = Readonly<Record<string, string>>;

function ruleOf({ name, expr, time, unit, text }: Groups, section: string): string {
  const summary = text!.replaceAll(/\s+/g, " ").split(/(?<=\.) /, 1)[0]!;
  const lines = [
    `- alert: ${name}`,
    `  expr: ${JSON.stringify(expr)}`,
    ...(time === undefined ? [] : [`  for: ${time}${unit === "h" ? "h" : "m"}`]),
    `  labels: { severity: ${SEVERITIES[section] ?? "ticket"} }`,
    "  annotations:",
    `    summary: ${JSON.stringify(SUBJECT + summary)}`,
    `    runbook_url: ${SERVICE}/docs/operations#${slugOf(section)}`,
  ];
  return lines.map((line) => `      ${line}\n`).join("");
}

function panelOf({ title, expr }: Groups, index: number): object {
  return {
    id: index + 1,
    title,
    type: "timeseries",
    datasource: { type: "prometheus", uid: "${datasource}" },
    gridPos: { x: 12 * (index % 2), y: 8 * Math.floor(index / 2), w: 12, h: 8 },
    // The page escapes the bars of its tables.
    targets: [{ refId: "A", expr: expr!.replaceAll(String.raw`\|`, "|") }],
  };
}

function dashboardOf(panels: readonly object[]): object {
  return {
    uid: "tyche",
    title: "Tyche",
    schemaVersion: 39,
    time: { from: "now-6h", to: "now" },
    refresh: "30s",
    templating: { list: [{ name: "datasource", type: "datasource", query: "prometheus" }] },
    panels,
  };
}

if (import.meta.main) {
  const page = readFileSync(path.join(ROOT, "docs/operations.md"), "utf8");
  for (const [name, content] of Object.entries(generate(page)))
    writeFileSync(path.join(import.meta.dirname, name), content);
}
