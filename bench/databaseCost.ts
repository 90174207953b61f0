/**
 * What does a preset cost on the API's side and in PostgreSQL, with one service on an external chain and the oracle in a process of its own?
 *
 * Question: processor time of the service and its sandbox, and the database's commits, rows written and WAL bytes, per preset, at 20 and 100
 * in flight. Each preset must be fulfilled. The chain is an Anvil with one block per second; caller, chain, oracle and database share the
 * machine. Left out: flushes (this run's database doesn't flush), and the time of the oracle and the node.
 *
 * Run: `node bench/databaseCost.ts [--presets 400]`
 */
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { startIntervalAnvil } from "../test/external/support/chain.ts";
import { deployByCommands, NETWORK, prepareParties, startService } from "../test/external/support/world.ts";
import { startPostgres, withClient } from "../test/support/postgres.ts";
import { startOracleProcess, type OracleChild, type TycheProcess } from "../test/support/tyche.ts";
import { describeMachine, readMachine } from "./support/machine.ts";
import { readCpuTimes, subtractCpuTimes } from "./support/processes.ts";

const { values } = parseArgs({ options: { presets: { type: "string", default: "400" } } });
const presets = Number(values.presets);
const CHAIN_ID = 31_337;

console.log(describeMachine(readMachine()));
const [server, chain] = await Promise.all([
  startPostgres(),
  startIntervalAnvil({ chainId: CHAIN_ID, blockSeconds: 1 }),
]);
const url = await server.createDatabase();
const parties = prepareParties(chain, { databaseUrl: url });
let oracle: OracleChild | undefined;
let tyche: TycheProcess | undefined;
try {
  await deployByCommands(parties);
  [oracle, tyche] = await Promise.all([startOracleProcess(parties.oracle), startService(parties)]);
  await run(20, 20);
  for (const inFlight of [20, 100]) await measure(tyche.pid, inFlight);
} finally {
  await Promise.all([tyche, oracle].map(async (one) => await one?.stop("SIGKILL")));
  await Promise.all([chain.close(), server.remove()]);
  parties.remove();
}

/** Calls presets, `inFlight` at a time, and throws if one isn't fulfilled. */
async function run(count: number, inFlight: number): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      const { status, data } = await tyche!.call(
        "POST",
        `/api/vrfv2/presets?network=${NETWORK}&preset=coinflip`,
        { body: {} },
      );
      if (status !== 200 || data.success !== true) throw new Error(`${status}: ${JSON.stringify(data)}`);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
}

async function measure(pid: number, inFlight: number): Promise<void> {
  const [cpu, database] = [readCpuTimes(pid, CHAIN_ID), await readDatabase()];
  const began = performance.now();
  await run(presets, inFlight);
  const seconds = (performance.now() - began) / 1_000;
  const used = subtractCpuTimes(readCpuTimes(pid, CHAIN_ID), cpu);
  // Backends report their counts at most once a second.
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const after = await readDatabase();
  const each = (value: number, digits: number): string => (value / presets).toFixed(digits);
  console.log(
    `${inFlight} in flight, load ${loadavg()[0]!.toFixed(1)}: ${(presets / seconds).toFixed(0)} presets/s; each: service ${each(used.service, 1)} ms, ` +
      `sandbox ${each(used.sandbox, 1)} ms of processor time; ${each(after.commits - database.commits, 1)} commits, ` +
      `${each(after.rows - database.rows, 1)} rows written, ${each(after.walBytes - database.walBytes, 0)} bytes of log`,
  );
}

/** Reads the counts since the database was created. Writes to `call_counts` and `replicas` are not WAL-logged. */
async function readDatabase(): Promise<{
  readonly commits: number;
  readonly rows: number;
  readonly walBytes: number;
}> {
  const { rows } = await withClient(url, (client) =>
    client.query<{ commits: string; rows: string; bytes: string }>(
      `SELECT xact_commit AS commits, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS bytes,
         (SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables) AS rows
       FROM pg_stat_database WHERE datname = current_database()`,
    ),
  );
  const [row] = rows;
  return { commits: Number(row!.commits), rows: Number(row!.rows), walBytes: Number(row!.bytes) };
}
