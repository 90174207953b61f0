import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { holdsWithin } from "../faults/fault.ts";
import { countEnds } from "../support/countEnds.ts";
import { isAlive } from "./replicas/supervised.ts";
import { makeDataDir, removeDataDir, startTycheProcess, type TycheProcess } from "../support/tyche.ts";

export interface SoakOptions {
  /** How long requests are made and processes killed; open requests then get {@link END_TIMEOUT_MS} to end. */
  readonly seconds: number;
  /** The same seed makes the same choices in the same order. */
  readonly seed: number;
  /** Number of concurrent callers. */
  readonly callers: number;
  readonly say: (line: string) => void;
}

/** The results of a soak. */
export interface SoakReport {
  readonly accepted: number;
  readonly fulfilled: number;
  readonly serviceKills: number;
  readonly chainKills: number;
  readonly stops: number;
  /** Violated invariants, a sentence each; empty if all held. */
  readonly violations: readonly string[];
}

const END_TIMEOUT_MS = 120_000;
/** For a chain whose process was killed to get another one. */
const CHAIN_TIMEOUT_MS = 60_000;
const NETWORKS = ["polygon_mumbai", "sepolia", "fuji", "fantom_testnet"] as const;

/**
 * Has callers make requests of every kind against a real service while the service, with the oracle in it, and its chains are killed at
 * random moments, and then checks the promise made to every accepted request: it ends once, its answer stays, a repeated call gets
 * the same request.
 */
export async function soak({ seconds, seed, callers, say }: SoakOptions): Promise<SoakReport> {
  const random = createRandom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const dataDir = makeDataDir();
  const violations: string[] = [];
  const accepted = new Map<string, string>();
  let counts = { serviceKills: 0, chainKills: 0, stops: 0 };
  let tyche: TycheProcess = await startTycheProcess({ dataDir });
  let isOver = false;

  const call = async (key: string, run: () => readonly [string, object | undefined]): Promise<void> => {
    const [target, body] = run();
    // Repeat until it is accepted: a caller whose connection breaks calls again with the same key.
    for (let tries = 0; tries < 400; tries += 1) {
      try {
        const { status, data } = await tyche.call("POST", target, {
          headers: { "idempotency-key": key, prefer: "respond-async, wait=0" },
          ...(body === undefined ? {} : { body }),
        });
        if (status === 202) {
          const earlier = accepted.get(key);
          if (earlier !== undefined && earlier !== data.id)
            violations.push(`${key} is both ${earlier} and ${data.id}`);
          accepted.set(key, data.id);
          return;
        }
        if (status === 200) return;
        if (status < 500 && status !== 429) violations.push(`${key} got ${status}: ${data.err}`);
      } catch {
        // The service is down.
      }
      if (isOver) return;
      await sleep(50);
    }
  };

  const choices: readonly ((network: string, n: number) => readonly [string, object | undefined])[] = [
    (network) => [`/api/vrfv2/presets?network=${network}`, {}],
    (network) => [`/api/vrfv2/requestRandomNumber?network=${network}&confirmations=3`, undefined],
    (network, n) => [
      "/api/oracleFunctions/runFunction",
      { network, source: "return Functions.encodeString(args[0])", args: [String(n)] },
    ],
  ];
  const caller = async (name: number): Promise<void> => {
    for (let n = 0; !isOver; n += 1) {
      const [choice, network] = [pick(choices), pick(NETWORKS)];
      await call(`soak-${name}-${n}`, () => choice(network, n));
      await sleep(random() * 100);
    }
  };

  const checkChains = (): void => {
    for (const [, lost] of tyche.output().matchAll(/"lostBlocks":([1-9]\d*)/g))
      violations.push(`a chain whose process was killed lost ${lost} blocks`);
  };

  const trouble = async (): Promise<void> => {
    const kind = random();
    if (kind < 0.4) {
      say("SIGKILL to the service");
      await tyche.stop("SIGKILL");
      counts = { ...counts, serviceKills: counts.serviceKills + 1 };
    } else if (kind < 0.6) {
      say("SIGTERM to the service");
      const code = await tyche.stop("SIGTERM");
      if (code !== 0) violations.push(`the service ended with ${code} on SIGTERM`);
      counts = { ...counts, stops: counts.stops + 1 };
    } else {
      const network = pick(NETWORKS);
      const isServiceKilled = random() < 0.5;
      say(`SIGKILL to the chain of ${network}${isServiceKilled ? ", then to the service" : ""}`);
      // The service may still be at restarting the one that was killed before.
      let pid: number | undefined;
      const isRunning = async (): Promise<boolean> => (pid = findChainPid(dataDir, network)) !== undefined;
      if (!(await holdsWithin(CHAIN_TIMEOUT_MS, isRunning))) {
        violations.push(`the chain of ${network} ended by itself: ${tyche.output().slice(-2_000)}`);
        return;
      }
      process.kill(pid!, "SIGKILL");
      counts = { ...counts, chainKills: counts.chainKills + 1 };
      if (!isServiceKilled) return;
      await sleep(random() * 500);
      await tyche.stop("SIGKILL");
    }
    checkChains();
    tyche = await startTycheProcess({ dataDir });
  };

  const finished = Promise.all(Array.from({ length: callers }, (_, name) => caller(name)));
  const end = Date.now() + seconds * 1_000;
  while (Date.now() < end) {
    await sleep(500 + random() * 2_500);
    await trouble();
  }
  isOver = true;
  await finished;

  say(`${accepted.size} accepted; waiting for those that are open`);
  let fulfilled = 0;
  const deadline = Date.now() + END_TIMEOUT_MS;
  for (const [key, id] of accepted) {
    let { data: record } = await tyche.call("GET", `/api/requests/${id}`);
    while (!["fulfilled", "failed"].includes(record.state) && Date.now() < deadline) {
      await sleep(100);
      ({ data: record } = await tyche.call("GET", `/api/requests/${id}`));
    }
    const ends = countEnds(record);
    if (ends !== 1) violations.push(`${key} (${id}) ended ${ends} times; ${record.state}: ${record.why}`);
    else if (record.state === "fulfilled") fulfilled += 1;
    else violations.push(`${key} (${id}) failed: ${record.error?.message ?? record.outcome?.err}`);
  }
  checkChains();
  if ((await tyche.stop()) !== 0) violations.push("the last stop did not end well");
  const database = new DatabaseSync(path.join(dataDir, "tyche.sqlite"), { readOnly: true });
  const { integrity_check: integrity } = database.prepare("PRAGMA integrity_check").get() ?? {};
  if (integrity !== "ok") violations.push(`the database is damaged: ${String(integrity)}`);
  database.close();
  removeDataDir(dataDir);
  return { accepted: accepted.size, fulfilled, ...counts, violations };
}

/** Returns the id of a chain's process; `undefined` while there is none. */
function findChainPid(dataDir: string, network: string): number | undefined {
  const pidFile = path.join(dataDir, "chains", network, "anvil.pid");
  const line = existsSync(pidFile) ? readFileSync(pidFile, "utf8") : "";
  const pid = Number.parseInt(line, 10);
  return pid > 0 && isAlive(pid) ? pid : undefined;
}

/** Creates a mulberry32 generator: numbers in [0, 1), determined by the seed. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
