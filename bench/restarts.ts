/**
 * Do starts get slower from crash to crash?
 *
 * Question: how long a service with its four chains takes from start to ready, each time after it was killed (SIGKILL) under load, fifteen
 * times in a row on one data directory; for comparison, the very first start, on an empty one. The bound: the median of the last five
 * starts is at most 1.5 times that of the first five after a kill, because single starts vary with the machine's other load, which is
 * shown beside each. In the end, every accepted request must have ended with a result. Left out: a machine that crashes with the service,
 * which leaves its disk cache cold.
 *
 * Run: `node bench/restarts.ts [--kills 15] [--load-ms 3000] [--json FILE]`
 */
import { loadavg } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { makeDataDir, removeDataDir, startTycheProcess, type TycheProcess } from "../test/support/tyche.ts";
import { describeMachine, readMachine } from "./support/machine.ts";
import { formatTable, parseReportTarget, writeReport } from "./support/report.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "15" },
    "load-ms": { type: "string", default: "3000" },
    json: { type: "string" },
  },
});
const kills = Number(values.kills);
const loadMs = Number(values["load-ms"]);
const NETWORKS = ["sepolia", "fuji"];
const CALLERS = 8;
const END_TIMEOUT_MS = 120_000;
const COMPARED_STARTS = 5;
const MAX_GROWTH = 1.5;

interface Start {
  readonly after: string;
  readonly ms: number;
  /** Requests accepted between the previous start and this one. */
  readonly accepted: number;
  /** Requests that were open when this start began. */
  readonly open: number;
  /** The machine's load average over the last minute. */
  readonly load: number;
}

async function start(
  dataDir: string,
  before: Pick<Start, "after" | "accepted" | "open">,
): Promise<TycheProcess> {
  const began = performance.now();
  const tyche = await startTycheProcess({ dataDir });
  starts.push({ ...before, ms: performance.now() - began, load: loadavg()[0]! });
  return tyche;
}

/** Counts the open requests of a killed service. */
function countOpen(dataDir: string): number {
  const db = new DatabaseSync(path.join(dataDir, "tyche.sqlite"));
  try {
    const counted = "SELECT count(*) AS open FROM requests WHERE state NOT IN ('fulfilled', 'failed')";
    return Number(db.prepare(counted).get()!["open"]);
  } finally {
    db.close();
  }
}

function median(of: readonly Start[]): number {
  return of.map(({ ms }) => ms).toSorted((a, b) => a - b)[Math.floor(of.length / 2)]!;
}

/** Keeps callers busy until the service is killed and returns the requests it had accepted. */
async function loadAndKill(tyche: TycheProcess): Promise<string[]> {
  const accepted: string[] = [];
  let isOver = false;
  const caller = async (n: number): Promise<void> => {
    const network = NETWORKS[n % NETWORKS.length]!;
    while (!isOver) {
      const answer = await tyche
        .call("POST", `/api/vrfv2/presets?network=${network}`, {
          headers: { prefer: "respond-async, wait=0" },
          body: { preset: "range", min: "1", max: "1000000" },
        })
        .catch(() => undefined);
      if (answer?.status === 202) accepted.push(answer.data.id);
      else await sleep(20);
    }
  };
  const callers = Array.from({ length: CALLERS }, (_, n) => caller(n));
  await sleep(loadMs);
  await tyche.stop("SIGKILL");
  isOver = true;
  await Promise.all(callers);
  return accepted;
}

async function assertEnded(tyche: TycheProcess, ids: readonly string[]): Promise<void> {
  const deadline = Date.now() + END_TIMEOUT_MS;
  for (const id of ids)
    for (;;) {
      const { data } = await tyche.call("GET", `/api/requests/${id}`);
      if (data.state === "fulfilled") break;
      if (data.state === "failed" || Date.now() > deadline)
        throw new Error(`request ${id} is ${data.state}: ${data.why ?? data.error?.message}`);
      await sleep(50);
    }
}

const machine = readMachine();
const dataDir = makeDataDir();
const starts: Start[] = [];
try {
  const ids: string[] = [];
  let tyche = await start(dataDir, { after: "nothing", accepted: 0, open: 0 });
  for (let kill = 1; kill <= kills; kill += 1) {
    const accepted = await loadAndKill(tyche);
    ids.push(...accepted);
    const before = { after: `kill ${kill}`, accepted: accepted.length, open: countOpen(dataDir) };
    tyche = await start(dataDir, before);
  }
  await assertEnded(tyche, ids);
  await tyche.stop();
  const growth = median(starts.slice(-COMPARED_STARTS)) / median(starts.slice(1, 1 + COMPARED_STARTS));
  const text = [
    describeMachine(machine),
    formatTable(
      ["Start after", "Ready after ms", "Accepted before", "Open then", "Load"],
      starts.map(({ after, ms, accepted, open, load }) => [
        after,
        ms.toFixed(0),
        String(accepted),
        String(open),
        load.toFixed(1),
      ]),
    ),
    `${ids.length} requests accepted, all fulfilled; the last ${COMPARED_STARTS} starts took ${growth.toFixed(2)} times as long as the first ${COMPARED_STARTS} after a kill (medians)`,
  ].join("\n");
  writeReport(parseReportTarget(process.argv.slice(2)), { text, data: { machine, starts } });
  process.exitCode = growth <= MAX_GROWTH ? 0 : 1;
} finally {
  removeDataDir(dataDir);
}
