import { cpSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import {
  StartFailure,
  makeDataDir,
  removeDataDir,
  startTycheProcess,
  type TycheProcess,
} from "../support/tyche.ts";
import { DAMAGES, findFile, readAll } from "./damages.ts";
import { holdsWithin } from "./fault.ts";
import { isSentence } from "./world.ts";

/** Time within which a start must serve or exit. */
const START_TIMEOUT_MS = 20_000;
const NETWORK = "fuji";
/** Without these capabilities, root is denied what an ordinary user is denied. */
const WITHOUT_OVERRIDE = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"];
/** Files that come and go by themselves. */
const TRANSIENT = /(^|\/)(lock.*|anvil\.pid|.*-shm|.*-wal|.*\.socket|blocks-\d+\.log)$/;
const CALLS = [
  [`/api/vrfv2/presets?network=${NETWORK}`, { preset: "range", min: "1", max: "1000000" }],
  [`/api/vrfv2/requestRandomNumber?network=${NETWORK}&numWords=2`, undefined],
  [
    "/api/oracleFunctions/runFunction",
    { network: NETWORK, source: "return Functions.encodeString('kept')", args: [] },
  ],
] as const;

/** The data directory of a stopped service, and the answers that the service gave. */
export interface StoppedService {
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string>>;
  /** Answers by index of the call, without members that contain a port. */
  readonly answers: readonly unknown[];
  remove(): void;
}

/** The outcome of a damaged file. */
export interface DamageReport {
  readonly outcome: "serves" | "serves without the network" | "ends with a reason" | "no such file";
  /** What the service said about it to people: its readiness or its last line. */
  readonly said: string;
  readonly breaches: readonly string[];
}

/** Runs a service with one network, makes one call of each kind, and stops the service. */
export async function prepareStopped(signal: NodeJS.Signals): Promise<StoppedService> {
  const folder = makeDataDir();
  const dataDir = path.join(folder, "data");
  const config = path.join(folder, "tyche.json");
  writeFileSync(config, JSON.stringify({ networks: { [NETWORK]: "embedded" } }));
  const env = { TYCHE_CONFIG: config };
  const first = await startTycheProcess({ dataDir, env });
  await ask(first);
  // A second stop also leaves a previous state.
  await first.stop();
  const second = await startTycheProcess({ dataDir, env });
  const answers = await ask(second);
  await second.stop(signal);
  await hasNoProcess(dataDir);
  return { dataDir, env, answers, remove: () => removeDataDir(folder) };
}

/** Damages a file in a copy of a data directory, starts the service on it, restores the file and starts again. */
export async function damageFile(
  stopped: StoppedService,
  name: string,
  damage: string,
): Promise<DamageReport> {
  const folder = makeDataDir();
  const dataDir = path.join(folder, "data");
  const restore = (): void => cpSync(stopped.dataDir, dataDir, { recursive: true });
  const breaches: string[] = [];
  const start = (under: readonly string[] = []): Promise<TycheProcess> =>
    startTycheProcess({ dataDir, env: stopped.env, under });
  try {
    restore();
    const file = findFile(dataDir, name);
    if (file === undefined) return { outcome: "no such file", said: "", breaches };
    DAMAGES[damage]!(file);
    const before = readAll(dataDir);
    const began = performance.now();
    let outcome: DamageReport["outcome"];
    let said: string;
    try {
      const tyche = await start(damage === "unreadable" ? WITHOUT_OVERRIDE : []);
      const { ready, sentences } = await readReadiness(tyche);
      outcome = ready ? "serves" : "serves without the network";
      said = sentences;
      if (!ready && sentences === "") breaches.push("the network is not ready, without a reason");
      if (ready)
        await ask(tyche).catch((error: unknown) => breaches.push(`it serves nothing: ${String(error)}`));
      await tyche.stop();
    } catch (error) {
      if (!(error instanceof StartFailure)) throw error;
      outcome = "ends with a reason";
      said = error.output.trim().split("\n").at(-1) ?? "";
      if (error.code !== 1) breaches.push(`exit code ${error.code}`);
      if (!isSentence(error.output)) breaches.push(`no sentence: ${error.output.slice(-500)}`);
    }
    if (performance.now() - began > START_TIMEOUT_MS + 10_000)
      breaches.push(`it took ${Math.round((performance.now() - began) / 1000)} s`);
    if (!(await hasNoProcess(dataDir))) breaches.push("a process is left");
    const after = readAll(dataDir);
    for (const [kept, bytes] of before)
      if (!TRANSIENT.test(kept) && !after.has(kept) && ![...after.values()].includes(bytes))
        breaches.push(`${kept} was deleted`);
    if (outcome === "ends with a reason") {
      // Restoring this one file must be enough: a start that is refused changes nothing.
      rmSync(file, { recursive: true, force: true });
      cpSync(path.join(stopped.dataDir, path.relative(dataDir, file)), file);
    } else {
      rmSync(dataDir, { recursive: true });
      restore();
    }
    const again = await start();
    const answers = await ask(again);
    if (JSON.stringify(answers) !== JSON.stringify(stopped.answers))
      breaches.push(`answered differently: ${JSON.stringify(answers)}`);
    await again.stop();
    return { outcome, said: said.replaceAll(dataDir, ""), breaches };
  } finally {
    await hasNoProcess(dataDir);
    removeDataDir(folder);
  }
}

/** Makes the same three calls with the same keys each time: all but the first time they are replays. */
async function ask(tyche: TycheProcess): Promise<readonly unknown[]> {
  const answers: unknown[] = [];
  for (const [i, [target, body]] of CALLS.entries()) {
    const { status, data } = await tyche.call("POST", target, {
      headers: { "idempotency-key": `kept-${i}` },
      ...(body === undefined ? {} : { body }),
    });
    if (status !== 200) throw new Error(`${target} was answered ${status}: ${data.err}`);
    // Both contain the port, which differs each time.
    answers.push({ ...data, url: undefined, vrfv2EventHash: undefined });
  }
  return answers;
}

async function readReadiness(tyche: TycheProcess): Promise<{ ready: boolean; sentences: string }> {
  const { networks } = (await (await fetch(`${tyche.url}/readyz`)).json()) as {
    networks: Record<string, { ready: boolean; why?: string; warnings?: readonly string[] }>;
  };
  const { ready, why, warnings = [] } = networks[NETWORK]!;
  return { ready, sentences: [...(why === undefined ? [] : [why]), ...warnings].join("; ") };
}

/** Waits until no process has the data directory on its command line; returns whether that happened. */
async function hasNoProcess(dataDir: string): Promise<boolean> {
  return await holdsWithin(
    10_000,
    async () =>
      !readdirSync("/proc").some((pid) => {
        try {
          return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(dataDir);
        } catch {
          // It has exited in the meantime.
          return false;
        }
      }),
  );
}
