import { spawn } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Whether this machine has the kernel layers that the tests of this folder exercise. */
export const isLinux = process.platform === "linux" && (process.arch === "x64" || process.arch === "arm64");
export const isRoot = process.getuid?.() === 0;
/** The user of a service that doesn't run as root; the tests themselves may run as root. */
export const SERVICE_USER = isRoot ? 65_534 : (process.getuid?.() ?? 0);

/** What native code tries to reach; all of it belongs to {@link SERVICE_USER}. */
export interface Targets {
  readonly folder: string;
  readonly keyFile: string;
  readonly socketFile: string;
  /** A TCP port of 127.0.0.1. */
  readonly port: number;
  /** The id of a process. */
  readonly pid: number;
  /** Number of connections to socket and port so far. */
  readonly connections: () => number;
  readonly stop: () => void;
}

export async function startTargets(): Promise<Targets> {
  const folder = mkdtempSync(join(tmpdir(), "tyche-native-"));
  const [keyFile, socketFile] = [join(folder, "master-key"), join(folder, "anvil.sock")];
  writeFileSync(keyFile, "the key", { mode: 0o600 });
  let connections = 0;
  const servers = [0, 1].map(() =>
    createServer((socket) => {
      connections += 1;
      socket.end();
    }),
  );
  const [files, hosts] = servers as [(typeof servers)[0], (typeof servers)[0]];
  await new Promise<void>((resolve) => files.listen(socketFile, resolve));
  await new Promise<void>((resolve) => hosts.listen(0, "127.0.0.1", resolve));
  if (isRoot) for (const path of [folder, keyFile, socketFile]) chownSync(path, SERVICE_USER, SERVICE_USER);
  chmodSync(folder, 0o700);
  const user = isRoot ? { uid: SERVICE_USER, gid: SERVICE_USER } : {};
  const sleeper = spawn("sleep", ["1000"], { stdio: "ignore", ...user });
  await new Promise((resolve) => sleeper.once("spawn", resolve));
  return {
    folder,
    keyFile,
    socketFile,
    port: (hosts.address() as AddressInfo).port,
    pid: sleeper.pid ?? 0,
    connections: () => connections,
    stop: () => {
      sleeper.kill("SIGKILL");
      for (const server of servers) server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the ids of a process's children. */
export function childrenOf(pid: number | undefined): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number);
}

/** Returns the ids of the running processes of a process group. */
export function processesOfGroup(group: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ");
        return fields[0] !== "Z" && Number(fields[2]) === group;
      } catch {
        // It has ended in the meantime.
        return false;
      }
    });
}

function parentOf(id: string): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1]);
  } catch {
    // It has ended in the meantime.
    return undefined;
  }
}

/** Returns the kernel's status of each thread of a process. */
export function threadsOf(pid: number | undefined): string[] {
  const task = `/proc/${pid}/task`;
  return readdirSync(task).map((id) => readFileSync(`${task}/${id}/status`, "utf8"));
}
