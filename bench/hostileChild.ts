/**
 * What does a sandbox child in an attacker's hands cost the service?
 *
 * Question: a child that floods its parent with frames, damaged frames, host calls, output and its own death, one kind after the
 * other, in a pool for one run at a time: processor time of the parent as a share of a core, and how many times that of a child that
 * computes and writes nothing, which is run in turns with the others, so that both meet the same machine. Memory is the peak above
 * what the parent used before. Left out: the child's own processor time, which is bounded by the run's time limit.
 *
 * Run: `node bench/hostileChild.ts [--ms 800] [--made-up 12] [--json [FILE]]`
 */
import { parseArgs } from "node:util";
import * as fc from "fast-check";
import type { HostileCost } from "../test/sandbox/contained/hostileParent.ts";
import { anyProgram, BUSY, FLOODS } from "../test/sandbox/contained/hostileProgram.ts";
import { measureHostile } from "../test/sandbox/contained/measureHostile.ts";
import { formatTable, parseReportTarget, writeReport } from "./support/report.ts";

const { values } = parseArgs({
  options: { ms: { type: "string", default: "800" }, "made-up": { type: "string", default: "12" } },
  strict: false,
});
const made = fc.sample(anyProgram, Number(values["made-up"]));
const costs = await measureHostile(
  [...FLOODS, ...made].flatMap((program) => [BUSY, program]),
  Number(values.ms),
);

const shareOf = (of: readonly HostileCost[]): number => {
  const sum = (member: "cpuMs" | "wallMs") => of.reduce((total, cost) => total + cost[member], 0);
  return sum("cpuMs") / sum("wallMs");
};
const hostile = costs.filter(({ name }) => name !== BUSY.name);
const busyShare = shareOf(costs.filter(({ name }) => name === BUSY.name));
const rows = [...hostile.map((cost) => [cost] as const), hostile].map((of) => ({
  name: of.length === 1 ? of[0].name : "all of them",
  share: shareOf(of),
  ratio: shareOf(of) / busyShare,
  growthBytes: Math.max(...of.map(({ growthBytes }) => growthBytes)),
}));
writeReport(parseReportTarget(process.argv.slice(2)), {
  text: formatTable(
    ["program", "share of a core", `times "${BUSY.name}"`, "memory, MB"],
    rows.map(({ name, share, ratio, growthBytes }) => [
      name,
      `${(100 * share).toFixed(1)} %`,
      ratio.toFixed(1),
      (growthBytes / 1024 ** 2).toFixed(1),
    ]),
  ),
  data: { busyShare, programs: rows },
});
