import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSandboxPool, type RunResult, type SandboxPool } from "../../../sandbox/index.ts";
import { type HostileCase, TIMEOUT } from "./case.ts";
import { cpu } from "./cpu.ts";
import { floods } from "./floods.ts";
import { memory } from "./memory.ts";
import { parser } from "./parser.ts";
import { platform } from "./platform.ts";
import { poisoned } from "./poison.ts";
import { reach } from "./reach.ts";

/** Time limit of a source that may end by timeout, unless its case sets one. */
const TIMEOUT_MS = 150;
/** Time limit of every other source: it ends by itself, however busy the machine is. */
const PLENTY_MS = 120_000;
/** Resident memory, in MB, to which a sandbox process must return. */
const MAX_IDLE_RESIDENT_MB = 256;

/** What earlier files of this worker share with later ones, such as PostgreSQL. */
const others = new Set(listChildren());
let pool: SandboxPool;
beforeAll(async () => {
  pool = createSandboxPool({ concurrency: 2 });
  await pool.ready();
});
afterAll(() => pool.close());

const tables: readonly (readonly [name: string, cases: readonly HostileCase[]])[] = [
  ["processor time", cpu],
  ["memory", memory],
  ["floods", floods],
  ["poisoned built-ins and forged results", poisoned],
  ["reaching out", reach],
  ["parsers", parser],
  ["the platform's own functions", platform],
];

test("there are at least 150 hostile sources, each with a name of its own", () => {
  const names = tables.flatMap(([table, cases]) => cases.map((one) => `${table}: ${one.name}`));
  expect(names.length).toBeGreaterThanOrEqual(150);
  expect(new Set(names).size).toBe(names.length);
});

describe.each(tables)("%s", (table, cases) => {
  test.each(cases.map((one) => [one.name, one] as const))("%s", async (_name, one) => {
    // A hostile source must not spoil the TypeScript compiler unnoticed.
    const isTyped = table === "parsers";
    const healthy = [1, 2, 3].map((number) => runHealthy(number, isTyped));
    const limits = { ...one.limits, timeoutMs: timeoutOf(one) };
    const result = await pool.run({ source: one.source, args: ["a"], caller: "hostile", limits });

    expect(faultOf(one, result)).toBe("");
    expect(await Promise.all(healthy)).toEqual(["healthy 1", "healthy 2", "healthy 3"]);
    expect(await runHealthy(4, isTyped)).toBe("healthy 4");
    expect(await unrest()).toBe("");
  });
});

/** Returns the time limit for the source of a case, in ms. */
function timeoutOf({ error, kinds, limits }: HostileCase): number {
  const isAllowed = typeof error === "string" ? error === TIMEOUT : error?.test(TIMEOUT) === true;
  return isAllowed && kinds?.includes("timeout") !== false ? (limits?.timeoutMs ?? TIMEOUT_MS) : PLENTY_MS;
}

/** Describes how a result differs from what its case allows; empty if it doesn't. */
function faultOf(one: HostileCase, result: RunResult): string {
  if (Buffer.byteLength(result.console) > 65_536) return "too much console output";
  if (result.ok) {
    const text = Buffer.from(result.bytes).toString();
    return text === one.ok ? "" : `result ${JSON.stringify(text)}`;
  }
  const { error } = result;
  const shown = JSON.stringify(error);
  const isExpected =
    typeof one.error === "string" ? error.message === one.error : one.error?.test(error.message);
  if (isExpected !== true) return `error ${shown.slice(0, 500)}`;
  if (one.kinds !== undefined && !one.kinds.includes(error.kind)) return `kind ${error.kind}`;
  // What a caller can read must not reveal anything about the host.
  return /node_modules|\/work|\/home|\.cjs|isolated-vm|tyche:/.test(shown)
    ? `a leak: ${shown.slice(0, 500)}`
    : "";
}

async function runHealthy(number: number, isTyped: boolean): Promise<string> {
  const source = `const ms${isTyped ? ": number" : ""} = ${number}; await new Promise((r) => setTimeout(r, ms)); return Functions.encodeString('healthy ' + args[0])`;
  const limits = { timeoutMs: PLENTY_MS };
  const result = await pool.run({ source, args: [String(number)], caller: "healthy", limits });
  return result.ok ? Buffer.from(result.bytes).toString() : JSON.stringify(result.error);
}

/**
 * Waits until, at one moment, no thread of any sandbox process runs and each process has released its memory. Returns what is wrong after a
 * minute; empty if all are idle.
 */
async function unrest(): Promise<string> {
  let state = "";
  for (const endMs = performance.now() + 60_000; performance.now() < endMs; await sleep(5)) {
    state = listChildren()
      .filter((pid) => !others.has(pid))
      .map(describeProcess)
      .filter((text) => text !== "")
      .join(", ");
    if (state === "") break;
  }
  return state;
}

/** Returns the process ids of our children; empty where the system doesn't report them. */
function listChildren(): number[] {
  if (process.platform !== "linux") return [];
  const own = readdirSync(`/proc/self/task`).map((task) =>
    readFileSync(`/proc/self/task/${task}/children`, "utf8"),
  );
  return own
    .join(" ")
    .split(" ")
    .filter((pid) => pid.trim() !== "")
    .map(Number);
}

/** Describes what is wrong with a process: a running thread, or too much memory; empty if it is idle or gone. */
function describeProcess(pid: number): string {
  try {
    const running = readdirSync(`/proc/${pid}/task`).filter((task) =>
      /^\d+ \(.*\) R/.test(readFileSync(`/proc/${pid}/task/${task}/stat`, "utf8")),
    );
    const residentMb = (Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * 4_096) / 2 ** 20;
    if (running.length > 0) return `process ${pid} runs`;
    return residentMb > MAX_IDLE_RESIDENT_MB ? `process ${pid} holds ${residentMb.toFixed(0)} MB` : "";
  } catch {
    return "";
  }
}
