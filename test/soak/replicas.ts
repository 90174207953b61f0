import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startIntervalAnvil } from "../external/support/chain.ts";
import { deployByCommands, NETWORK, prepareParties } from "../external/support/world.ts";
import { checkChain, type CheckedNetwork, type CheckedRequest } from "../faults/chainChecker.ts";
import { createRandom } from "../oracle/protocol/random.ts";
import { countEnds } from "../support/countEnds.ts";
import { startPostgres, withClient } from "../support/postgres.ts";
import {
  startOracleProcess,
  startTycheProcess,
  type OracleChild,
  type TycheProcess,
} from "../support/tyche.ts";

/** Options of {@link soakReplicas}. */
export interface ReplicaSoakOptions {
  readonly replicas: number;
  /** How long calls are made and things go wrong; what is open then gets {@link END_TIMEOUT_MS} to end. */
  readonly seconds: number;
  /** Makes the same choices in the same order. */
  readonly seed: number;
  readonly callers: number;
  readonly say: (line: string) => void;
}

/** What a soak saw. */
export interface ReplicaSoakReport {
  readonly accepted: number;
  readonly fulfilled: number;
  /** How often each trouble struck. */
  readonly troubles: Readonly<Record<string, number>>;
  /** What must not be: each a sentence. Empty when all is well. */
  readonly violations: readonly string[];
}

const END_TIMEOUT_MS = 180_000;
/** What each replica's folder has from the first one's, with the mark of a data directory. */
const SECRETS = ["tyche-data", "master-key", "operator-token"];
/** Longer than a lease lasts. */
const PAUSE_MS = 6_000;

/**
 * Lets callers with idempotency keys go from replica to replica while replicas, the database and its connections fail, and then compares
 * what the service says with the chain, by a checker that shares no code with it.
 */
export async function soakReplicas(options: ReplicaSoakOptions): Promise<ReplicaSoakReport> {
  const { seconds, seed, callers, say } = options;
  const random = createRandom(seed);
  const violations: string[] = [];
  const troubles: Record<string, number> = {};
  const accepted = new Map<string, string>();
  const [server, chain] = await Promise.all([startPostgres(), startIntervalAnvil()]);
  const url = await server.createDatabase();
  const parties = prepareParties(chain, { databaseUrl: url });
  const folder = mkdtempSync(path.join(tmpdir(), "tyche-replicas-"));
  let oracle: OracleChild | undefined;
  let replicas: readonly Replica[] = [];
  try {
    await deployByCommands(parties);
    oracle = await startOracleProcess(parties.oracle);
    const folderOf = (i: number): string => path.join(folder, `replica-${i + 1}`);
    const first = createReplica(folderOf(0), parties.service, say);
    replicas = [first];
    await first.restarted();
    for (let i = 1; i < options.replicas; i += 1) {
      // The secrets of all replicas. Nothing else is shared but the database.
      for (const name of SECRETS) cpSync(path.join(folderOf(0), name), path.join(folderOf(i), name));
      replicas = [...replicas, createReplica(folderOf(i), parties.service, say)];
    }
    await Promise.all(replicas.map((one) => one.restarted()));

    let isOver = false;
    const call = async (key: string, target: string, body?: object): Promise<void> => {
      // Until it is accepted, each time by another replica.
      while (!isOver || Date.now() < end + 10_000) {
        const tyche = random.pick(replicas).present();
        const headers = { "idempotency-key": key, prefer: "respond-async, wait=0" };
        const answer = await tyche
          ?.call("POST", target, { headers, ...(body && { body }), signal: AbortSignal.timeout(20_000) })
          .catch(() => undefined);
        const id: unknown = answer?.headers.get("tyche-request-id");
        if (answer !== undefined && answer.status < 300 && typeof id === "string") {
          const earlier = accepted.get(key);
          if (earlier !== undefined && earlier !== id) violations.push(`${key} is both ${earlier} and ${id}`);
          accepted.set(key, id);
          // Some repeat what was accepted, elsewhere.
          if (earlier !== undefined || random.chance(0.8)) return;
        } else if (answer !== undefined && answer.status < 500 && answer.status !== 429) {
          violations.push(`${key} got ${answer.status}: ${answer.data.err}`);
          return;
        }
        await sleep(50);
      }
    };
    const end = Date.now() + seconds * 1_000;
    const caller = async (name: number): Promise<void> => {
      for (let n = 0; !isOver; n += 1) {
        const key = `soak-${name}-${n}`;
        if (random.chance(0.6)) await call(key, `/api/vrfv2/presets?network=${NETWORK}`, {});
        else
          await call(key, "/api/oracleFunctions/runFunction", {
            network: NETWORK,
            source: "return Functions.encodeString(args[0])",
            args: [key],
          });
        await sleep(random.below(300));
      }
    };
    const finished = Promise.all(Array.from({ length: callers }, (_, name) => caller(name)));
    const kinds = createTroubles({ url, server, replicas: () => replicas, random });
    while (Date.now() < end) {
      await sleep(500 + random.below(3_000));
      const name = random.pick(Object.keys(kinds));
      say(name);
      await kinds[name]!();
      troubles[name] = (troubles[name] ?? 0) + 1;
    }
    isOver = true;
    await finished;
    await Promise.all(replicas.map((one) => one.restarted()));
    const fulfilled = await judge({ accepted, replicas, rpcUrl: chain.httpUrl, violations, say });
    const doubled = await withClient(url, (client) =>
      client.query(
        "SELECT sender, nonce FROM transactions WHERE state = 'mined' GROUP BY sender, nonce HAVING count(*) > 1",
      ),
    );
    for (const { nonce } of doubled.rows as { nonce: string }[])
      violations.push(`two transactions with nonce ${nonce} count as mined`);
    return { accepted: accepted.size, fulfilled, troubles, violations };
  } finally {
    await Promise.all(replicas.map((one) => one.end()));
    await oracle?.stop("SIGKILL");
    await Promise.all([chain.close(), server.remove()]);
    parties.remove();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

/** A replica that is started again whenever it ends, as by a supervisor. */
interface Replica {
  /** `undefined` while it is down. */
  present(): TycheProcess | undefined;
  /** Resolves when it serves. */
  restarted(): Promise<void>;
  end(): Promise<void>;
}

function createReplica(
  dataDir: string,
  environment: Readonly<Record<string, string>>,
  say: (line: string) => void,
): Replica {
  const env = { ...environment, TYCHE_DATA_DIR: dataDir };
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  let tyche: TycheProcess | undefined;
  let isEnded = false;
  const supervise = async (): Promise<void> => {
    while (!isEnded) {
      if (tyche !== undefined && isAlive(tyche.pid)) {
        await sleep(50);
        continue;
      }
      tyche = undefined;
      tyche = await startTycheProcess({ dataDir, env }).catch((error: Error) => {
        say(`${path.basename(dataDir)}: ${error.message.trim().split("\n").at(-1)}`);
        return undefined;
      });
      if (tyche === undefined) await sleep(200);
    }
  };
  const supervising = supervise();
  return {
    present: () => (tyche !== undefined && isAlive(tyche.pid) ? tyche : undefined),
    async restarted() {
      while (tyche === undefined || !isAlive(tyche.pid)) await sleep(50);
    },
    async end() {
      isEnded = true;
      await supervising;
      await tyche?.stop("SIGKILL");
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function createTroubles(options: {
  readonly url: string;
  readonly server: { stop(): Promise<void>; restart(): Promise<void> };
  readonly replicas: () => readonly Replica[];
  readonly random: ReturnType<typeof createRandom>;
}): Readonly<Record<string, () => Promise<void>>> {
  const { url, server, replicas, random } = options;
  const signal = (name: NodeJS.Signals): number | undefined => {
    const pid = random.pick(replicas()).present()?.pid;
    if (pid !== undefined) process.kill(pid, name);
    return pid;
  };
  const cut = async (which: string): Promise<void> => {
    await withClient(url, (client) =>
      client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database() AND ${which}`,
      ),
    );
  };
  return {
    "SIGKILL to a replica": async () => void signal("SIGKILL"),
    "SIGTERM to a replica": async () => void signal("SIGTERM"),
    "SIGSTOP to a replica for longer than a lease": async () => {
      const pid = signal("SIGSTOP");
      await sleep(PAUSE_MS);
      if (pid !== undefined && isAlive(pid)) process.kill(pid, "SIGCONT");
    },
    "PostgreSQL stopped and started": async () => {
      await server.stop();
      await sleep(random.below(3_000));
      await server.restart();
    },
    "a third of the connections cut": () => cut("pid % 3 = 0"),
    "connections that listen cut": () => cut("query LIKE 'LISTEN%'"),
  };
}

/** Waits for the end of all that was accepted, and compares it with the chain; gives how many were fulfilled. */
async function judge(options: {
  readonly accepted: ReadonlyMap<string, string>;
  readonly replicas: readonly Replica[];
  readonly rpcUrl: string;
  readonly violations: string[];
  readonly say: (line: string) => void;
}): Promise<number> {
  const { accepted, replicas, rpcUrl, violations, say } = options;
  say(`${accepted.size} accepted; waiting for those that are open`);
  const deadline = Date.now() + END_TIMEOUT_MS;
  const ended: CheckedRequest[] = [];
  let turn = 0;
  const read = async (id: string) => {
    const tyche = replicas[(turn += 1) % replicas.length]!.present();
    return (await tyche?.call("GET", `/api/requests/${id}`).catch(() => undefined))?.data;
  };
  for (const [key, id] of accepted) {
    let record = await read(id);
    while (!["fulfilled", "failed"].includes(record?.state) && Date.now() < deadline) {
      await sleep(100);
      record = await read(id);
    }
    const ends = record === undefined ? 0 : countEnds(record);
    if (ends !== 1) violations.push(`${key} (${id}) ended ${ends} times; ${record?.state}: ${record?.why}`);
    else if (record.state === "failed")
      violations.push(`${key} (${id}) failed: ${record.error?.message ?? record.outcome?.err}`);
    if (record !== undefined) ended.push(record);
  }
  const { data } = await replicas[0]!.present()!.call("GET", "/api/networks");
  const network = data.items.find(({ name }: { name: string }) => name === NETWORK) as CheckedNetwork;
  violations.push(...(await checkChain({ ...network, rpcUrl }, ended)));
  return ended.filter(({ state }) => state === "fulfilled").length;
}
