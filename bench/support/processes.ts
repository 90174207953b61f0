import { readFileSync, readdirSync } from "node:fs";

/** The part of a service that a process belongs to. */
type Part = "service" | "anvil" | "otherAnvils" | "sandbox";

/** Processor time in milliseconds of each part since its processes started; 0 where the system doesn't report it. */
export type CpuTimes = Readonly<Record<Part, number>>;

/** The kernel's clock tick (`sysconf(_SC_CLK_TCK)`): 100 a second on every Linux that Node runs on. */
const TICK_MS = 10;

/**
 * Reads the processor time of a service and its descendants from Linux's `/proc/PID/stat`. While the service runs, only its sandbox
 * children end, so the time of ended children counts as the sandbox's.
 *
 * @param chainId the measured chain's: its Anvil counts as `anvil`, others as `otherAnvils`.
 */
export function readCpuTimes(servicePid: number, chainId: number): CpuTimes {
  const times = { service: 0, anvil: 0, otherAnvils: 0, sandbox: 0 };
  if (process.platform !== "linux") return times;
  for (const pid of [servicePid, ...descendantsOf(servicePid)]) {
    const one = readProcess(pid);
    if (one === undefined) continue;
    times[partOf(pid, servicePid, chainId)] += one.cpuMs;
    times.sandbox += one.endedChildrenMs;
  }
  return times;
}

/** Returns the time that each part used between two readings. */
export function subtractCpuTimes(later: CpuTimes, earlier: CpuTimes): CpuTimes {
  const used = (part: Part): number => Math.max(0, later[part] - earlier[part]);
  return {
    service: used("service"),
    anvil: used("anvil"),
    otherAnvils: used("otherAnvils"),
    sandbox: used("sandbox"),
  };
}

function partOf(pid: number, servicePid: number, chainId: number): Part {
  if (pid === servicePid) return "service";
  const words = readFileOf(pid, "cmdline").split("\0");
  if (!words.some((word) => /(?:^|\/)anvil$/.test(word))) return "sandbox";
  const at = words.findIndex((word) => /^--chain-?id$/i.test(word));
  return words[at + 1] === String(chainId) ? "anvil" : "otherAnvils";
}

function descendantsOf(root: number): number[] {
  const all = readdirSync("/proc").flatMap((name) => {
    const one = /^\d+$/.test(name) ? readProcess(Number(name)) : undefined;
    return one === undefined ? [] : [one];
  });
  const children = Map.groupBy(all, ({ parent }) => parent);
  const found: number[] = [];
  for (let next = [root]; next.length > 0;) {
    next = next.flatMap((pid) => (children.get(pid) ?? []).map((child) => child.pid));
    found.push(...next);
  }
  return found;
}

interface ProcessTimes {
  readonly pid: number;
  readonly parent: number;
  readonly cpuMs: number;
  /** Time of children that have ended and been waited for. */
  readonly endedChildrenMs: number;
}

/** Reads a process's parent and processor time; `undefined` if it has ended. */
function readProcess(pid: number): ProcessTimes | undefined {
  // The command name, in parentheses, may hold anything: fields count from the last parenthesis on (proc(5): state is the third).
  const fields = readFileOf(pid, "stat").split(") ").at(-1)?.split(" ") ?? [];
  if (fields.length < 15) return undefined;
  const [utime, stime, cutime, cstime] = fields.slice(11, 15).map(Number) as [number, number, number, number];
  const [cpuMs, endedChildrenMs] = [(utime + stime) * TICK_MS, (cutime + cstime) * TICK_MS];
  return { pid, parent: Number(fields[1]), cpuMs, endedChildrenMs };
}

function readFileOf(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}
