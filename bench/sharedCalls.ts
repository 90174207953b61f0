/**
 * `node bench/sharedCalls.ts`: what it costs a call to count its rate and concurrency in PostgreSQL instead of in memory, with one and
 * three replicas in one process, over a local socket. Left out: the network between service and database, and the load of a
 * busy database.
 */
import { cpus, loadavg } from "node:os";
import { createCallCounter, type CallCounter } from "../src/lib/rateLimit.ts";
import { createPostgresDialect } from "../src/store/postgresDialect.ts";
import { openSharedState } from "../src/store/sharedState.ts";
import { openStore } from "../src/store/store.ts";
import { startPostgres } from "../test/support/postgres.ts";

const ALONE = 2_000;
const TOGETHER = 64;
const ROUNDS = 200;

console.log(`${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}, Node ${process.version}`);
const server = await startPostgres();
const states: Awaited<ReturnType<typeof openSharedState>>[] = [];
try {
  const url = await server.createDatabase();
  await (await openStore(createPostgresDialect(url))).close();
  for (let i = 0; i < 3; i += 1)
    states.push(
      await openSharedState(url, {
        operatorToken: "bench",
        key: new Uint8Array(32),
        onWarning: console.warn,
      }),
    );
  const replicas = states.map(({ calls }) => calls);
  await measure("in memory", [createCallCounter()]);
  await measure("PostgreSQL, 1 replica", replicas.slice(0, 1));
  await measure("PostgreSQL, 3 replicas", replicas);
} finally {
  await Promise.all(states.map((state) => state.close()));
  await server.remove();
}

async function measure(name: string, counters: readonly CallCounter[]): Promise<void> {
  let calls = 0;
  let last = 0;
  const one = async (counter: CallCounter, who: string): Promise<void> => {
    calls += 1;
    const call = { policy: name, who, quota: 1e9, windowSeconds: 3_600 };
    const begun = await counter.begin(call, 1_000);
    if (!begun.hasPlace) throw new Error("a call was refused");
    last = Math.max(last, begun.consumed);
    begun.end();
  };
  const times: number[] = [];
  for (let i = 0; i < ALONE; i += 1) {
    const began = performance.now();
    await one(counters[i % counters.length]!, "alone");
    times.push(performance.now() - began);
  }
  if (last !== ALONE) throw new Error(`${ALONE} calls were counted as ${last}`);
  times.sort((a, b) => a - b);
  const began = performance.now();
  const together = Array.from({ length: TOGETHER }, async (_, lane) => {
    for (let i = 0; i < ROUNDS; i += 1) await one(counters[lane % counters.length]!, "together");
  });
  await Promise.all(together);
  const seconds = (performance.now() - began) / 1_000;
  if (last !== TOGETHER * ROUNDS) throw new Error(`${TOGETHER * ROUNDS} calls were counted as ${last}`);
  const at = (share: number): string => times[Math.floor(share * (times.length - 1))]!.toFixed(3);
  console.log(
    `${name}: alone median ${at(0.5)} ms, 99 of 100 within ${at(0.99)} ms; ${TOGETHER} at once of one key ${Math.round((calls - ALONE) / seconds)} a second`,
  );
}
