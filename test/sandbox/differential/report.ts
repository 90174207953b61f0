// Compares our sandbox with the recorded answers, or with --live with Deno itself:
//   node test/sandbox/differential/report.ts [--live] [--show] [filter …]
import { readFileSync } from "node:fs";

import { readCases } from "./cases.ts";
import { type Difference, compare, runOurs } from "./compare.ts";
import { DECLARED } from "./declared.ts";
import { RECORDING_FILE, type Recording } from "./recording.ts";
import { createReference } from "./reference.ts";
import { startTestServer } from "./testServer.ts";

const flags = new Set(process.argv.slice(2).filter((word) => word.startsWith("--")));
const filters = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const cases = readCases().filter(
  ({ id }) => filters.length === 0 || filters.some((filter) => id.startsWith(filter)),
);
const { answers } = JSON.parse(readFileSync(RECORDING_FILE, "utf8")) as Recording;
const server = await startTestServer();
const reference = flags.has("--live") ? createReference() : undefined;
const table = new Map<string, { agree: number; declared: number; differ: number }>();
const undeclared: Difference[] = [];
const used = new Set<string>();

const queue = [...cases];
const work = async (): Promise<void> => {
  for (let testCase = queue.shift(); testCase !== undefined; testCase = queue.shift()) {
    const row = table.get(testCase.topic) ?? { agree: 0, declared: 0, differ: 0 };
    table.set(testCase.topic, row);
    const expected = reference ? await reference.run(testCase, server.url) : answers[testCase.id];
    if (expected === undefined) throw new Error(`${testCase.id} is not recorded: run record.ts.`);
    const difference = compare(testCase, expected, await runOurs(testCase, server.url));
    if (difference === undefined) row.agree++;
    else if (difference.declared !== undefined) {
      row.declared++;
      used.add(testCase.id);
    } else {
      row.differ++;
      undeclared.push(difference);
    }
  }
};
await Promise.all([work(), work(), work(), work()]);
reference?.close();
await server.close();

const show = ({ bytes, error, console: text }: Difference["ours"]): string =>
  JSON.stringify({
    bytes: bytes && Buffer.from(bytes.slice(2), "hex").toString("latin1"),
    error,
    console: text,
  });
for (const difference of undeclared.sort((a, b) => (a.id < b.id ? -1 : 1))) {
  console.log(`${difference.id}: ${difference.what.join(", ")}`);
  if (flags.has("--show"))
    console.log(`  deno ${show(difference.reference)}\n  ours ${show(difference.ours)}`);
}
console.log("| topic | cases | agree | declared | differ |\n|---|---|---|---|---|");
const totals = { agree: 0, declared: 0, differ: 0 };
for (const [topic, row] of [...table].sort(([a], [b]) => (a < b ? -1 : 1))) {
  console.log(
    `| ${topic} | ${row.agree + row.declared + row.differ} | ${row.agree} | ${row.declared} | ${row.differ} |`,
  );
  for (const key of ["agree", "declared", "differ"] as const) totals[key] += row[key];
}
const count = totals.agree + totals.declared + totals.differ;
console.log(`| all | ${count} | ${totals.agree} | ${totals.declared} | ${totals.differ} |`);
const stale = filters.length > 0 ? [] : Object.keys(DECLARED).filter((id) => !used.has(id));
if (stale.length > 0) console.log(`Declared, but there is no difference: ${stale.join("; ")}`);
process.exitCode = undeclared.length > 0 || stale.length > 0 ? 1 : 0;
