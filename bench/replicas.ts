/**
 * What does a preset cost on the API's side with one replica, and with three on one PostgreSQL?
 *
 * Question: processor time of each replica and its sandbox per preset, with the replica that dispatches counted apart from those that only
 * take calls, and presets per second. Calls rotate over the replicas, as behind a load balancer. Sides take turns in one run, with the
 * same contracts, chain, oracle and database; the chain is an Anvil with one block per second. Each preset must be fulfilled. Caller,
 * chain, oracle and database share the machine. Left out: the time of the oracle, the node and PostgreSQL, and flushes of its WAL.
 *
 * Run: `node bench/replicas.ts [--presets 600] [--in-flight 100] [--turns 3]`
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { startIntervalAnvil } from "../test/external/support/chain.ts";
import {
  deployByCommands,
  NETWORK,
  prepareParties,
  REPLICA_SECRETS,
} from "../test/external/support/world.ts";
import { startPostgres } from "../test/support/postgres.ts";
import {
  startOracleProcess,
  startTycheProcess,
  type OracleChild,
  type TycheProcess,
} from "../test/support/tyche.ts";
import { describeMachine, readMachine } from "./support/machine.ts";
import { readCpuTimes, subtractCpuTimes } from "./support/processes.ts";

const { values } = parseArgs({
  options: {
    presets: { type: "string", default: "600" },
    "in-flight": { type: "string", default: "100" },
    turns: { type: "string", default: "3" },
  },
});
const [presets, inFlight, turns] = [values.presets, values["in-flight"], values.turns].map(Number) as [
  number,
  number,
  number,
];
const CHAIN_ID = 31_337;
const REPLICAS = 3;

/** Milliseconds of processor time per preset. */
interface Cost {
  readonly holder: number;
  /** The sum of all replicas that don't dispatch. */
  readonly followers: number;
  readonly sandboxes: number;
  readonly perSecond: number;
}

console.log(describeMachine(readMachine()));
const [server, chain] = await Promise.all([
  startPostgres(),
  startIntervalAnvil({ chainId: CHAIN_ID, blockSeconds: 1 }),
]);
const parties = prepareParties(chain, { databaseUrl: await server.createDatabase() });
const folder = mkdtempSync(path.join(tmpdir(), "tyche-replicas-"));
let oracle: OracleChild | undefined;
const replicas: TycheProcess[] = [];
try {
  await deployByCommands(parties);
  oracle = await startOracleProcess(parties.oracle);
  for (let i = 0; i < REPLICAS; i += 1) replicas.push(await startReplica(i));
  await run(replicas, 200);
  const [holder] = replicas as [TycheProcess];
  const costs: Cost[][] = [];
  for (let turn = 0; turn < turns; turn += 1)
    costs.push([await measure([holder]), await measure(replicas), await measure(replicas.slice(1))]);
  report(
    "1, the one that dispatches",
    costs.map(([alone]) => alone!),
  );
  report(
    "3",
    costs.map(([, all]) => all!),
  );
  report(
    "3, and no calls to the one that dispatches",
    costs.map(([, , apart]) => apart!),
  );
} finally {
  await Promise.all([...replicas, oracle].map(async (one) => await one?.stop("SIGKILL")));
  await Promise.all([chain.close(), server.remove()]);
  parties.remove();
  rmSync(folder, { recursive: true, force: true });
}

/** Starts a replica. The first one dispatches: it was alone when it took the lease. */
async function startReplica(index: number): Promise<TycheProcess> {
  const dataDir = path.join(folder, `replica-${index}`);
  mkdirSync(dataDir, { mode: 0o700 });
  if (index > 0)
    for (const name of REPLICA_SECRETS)
      cpSync(path.join(folder, "replica-0", name), path.join(dataDir, name));
  const env = { ...parties.service, TYCHE_DATA_DIR: dataDir };
  return await startTycheProcess({ dataDir, env, timeoutMs: 240_000 });
}

/** Calls presets on the replicas in turn, `inFlight` at a time, and throws if one isn't fulfilled. */
async function run(by: readonly TycheProcess[], count: number): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const tyche = by[next % by.length]!;
      next += 1;
      const path = `/api/vrfv2/presets?network=${NETWORK}&preset=coinflip`;
      const { status, data } = await tyche.call("POST", path, { body: {} });
      if (status !== 200 || data.success !== true) throw new Error(`${status}: ${JSON.stringify(data)}`);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
}

async function measure(by: readonly TycheProcess[]): Promise<Cost> {
  const read = () => replicas.map(({ pid }) => readCpuTimes(pid, CHAIN_ID));
  const before = read();
  const began = performance.now();
  await run(by, presets);
  const seconds = (performance.now() - began) / 1_000;
  const used = read().map((times, i) => subtractCpuTimes(times, before[i]!));
  const each = (times: readonly number[]): number => times.reduce((sum, ms) => sum + ms, 0) / presets;
  const [holder, ...followers] = used.map(({ service }) => service) as [number, ...number[]];
  return {
    holder: each([holder]),
    followers: each(followers),
    sandboxes: each(used.map(({ sandbox }) => sandbox)),
    perSecond: presets / seconds,
  };
}

function report(name: string, costs: readonly Cost[]): void {
  const middle = (of: keyof Cost): string => {
    const sorted = costs.map((cost) => cost[of]).toSorted((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)]!.toFixed(1);
  };
  console.log(
    `calls to ${name}: ${middle("perSecond")} presets/s; ms of processor time for each: ${middle("holder")} of the one that dispatches, ` +
      `${middle("followers")} of the two others, ${middle("sandboxes")} of the sandboxes (load ${loadavg()[0]!.toFixed(1)})`,
  );
}
