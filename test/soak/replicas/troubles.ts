import { setTimeout as sleep } from "node:timers/promises";
import type { SeededRandom } from "../../oracle/protocol/random.ts";
import { withClient } from "../../support/postgres.ts";
import { isAlive, type SupervisedReplica } from "./supervised.ts";

/** Longer than a lease lasts. */
const PAUSE_MS = 6_000;

/** A take-over takes seconds, a start under load a minute. */
const HOLDER_TIMEOUT_MS = 300_000;

/** Troubles by name. Each resolves when it is over. */
export type Troubles = Readonly<Record<string, () => Promise<void>>>;

/** Creates the troubles that may strike replicas on one database. */
export function createTroubles(options: {
  readonly url: string;
  readonly server: { stop(): Promise<void>; restart(): Promise<void> };
  readonly replicas: readonly SupervisedReplica[];
  readonly random: SeededRandom;
}): Troubles {
  const { url, server, replicas, random } = options;
  const cut = async (which: string): Promise<void> => {
    await withClient(url, (client) =>
      client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database() AND (${which})`,
      ),
    );
  };
  return {
    "SIGKILL to the lease holder": async () => (await findHolder(replicas)).signal("SIGKILL"),
    "SIGKILL to a replica": async () => random.pick(replicas).signal("SIGKILL"),
    "SIGTERM to a replica": async () => random.pick(replicas).signal("SIGTERM"),
    "SIGSTOP to the lease holder for longer than its lease": async () => {
      const holder = await findHolder(replicas);
      const pid = holder.present()!.pid;
      holder.signal("SIGSTOP");
      await sleep(PAUSE_MS);
      if (isAlive(pid)) process.kill(pid, "SIGCONT");
    },
    "PostgreSQL stopped and started": async () => {
      await server.stop();
      await sleep(random.below(3_000));
      await server.restart();
    },
    "all connections cut": () => cut("true"),
    "a third of the connections cut": () => cut("pid % 3 = 0"),
    "the connections that hold locks cut": () =>
      cut("pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = 1)"),
    "the connections that listen cut": () => cut("query LIKE 'LISTEN%' OR query LIKE '%pg_notify%'"),
  };
}

/** Yields the names endlessly, in a new order each round: none repeats before all others have occurred. */
export function* shuffleAgainAndAgain(names: readonly string[], random: SeededRandom): Generator<string> {
  for (;;) {
    const left = [...names];
    while (left.length > 0) yield left.splice(random.below(left.length), 1)[0]!;
  }
}

/** Waits until a replica reports that it dispatches, and returns it. */
async function findHolder(replicas: readonly SupervisedReplica[]): Promise<SupervisedReplica> {
  for (const deadline = Date.now() + HOLDER_TIMEOUT_MS; Date.now() < deadline;) {
    const holds = await Promise.all(replicas.map((one) => one.dispatches()));
    const holder = replicas.find((one, i) => holds[i] && one.present() !== undefined);
    if (holder !== undefined) return holder;
    await sleep(50);
  }
  throw new Error(`no replica dispatches ${HOLDER_TIMEOUT_MS} ms after the last trouble`);
}
