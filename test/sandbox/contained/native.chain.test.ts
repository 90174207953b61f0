import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createChildLauncher } from "../../../sandbox/host/launch.ts";
import {
  AF_INET,
  AF_UNIX,
  AT_FDCWD,
  call,
  createDoors,
  EPERM,
  F_SETOWN,
  tcpAddress,
  unixAddress,
} from "./doors.ts";
import type { NativeCall } from "./doors.ts";
import { startEscaped, type Escaped } from "./startEscaped.ts";
import { childrenOf, isLinux, isRoot, SERVICE_USER, startTargets, threadsOf } from "./targets.ts";

/**
 * What native code in a child can reach, tried with the system calls themselves: neither V8 nor Node's permission model is involved. As
 * root, a child has a user of its own; otherwise it runs as the service's user, who owns everything tried here.
 */
const targets = await startTargets();
afterAll(() => targets.stop());

const codeOf = ({ number, args }: NativeCall): string =>
  `return native(${number}, ...${JSON.stringify(args)})`;

describe.runIf(isLinux).each([
  { as: "a user of its own, under root", flag: "", runs: isRoot },
  { as: "the service's user", flag: isRoot ? `--user=${SERVICE_USER}` : "", runs: true },
])("native code in a child that has $as", ({ flag, runs }) => {
  let escaped: Escaped;
  beforeAll(async () => {
    escaped = await startEscaped({ flag });
  });
  afterAll(() => escaped.stop());

  test.runIf(runs).each(createDoors(targets))("$what", async ({ attempt, refusal }) => {
    expect(await escaped.attempt(codeOf(attempt))).toEqual({ value: refusal ?? EPERM });
  });

  test.runIf(runs)("a thread's own priority is told, another process's is not looked up", async () => {
    const ask = async (pid: number): Promise<unknown> =>
      (await escaped.attempt(codeOf(call("sched_getscheduler", pid)))).value;
    expect(await ask(0)).toBe(0);
    expect(await ask(2 ** 22 + 1)).toBe(0);
  });

  test.runIf(runs)("every thread is filtered, none can gain a privilege", () => {
    const threads = threadsOf(escaped.child.pid);
    expect(threads.length).toBeGreaterThan(1);
    for (const status of threads) {
      expect(status).toMatch(/^Seccomp:\s+2$/m);
      expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
      for (const set of ["CapInh", "CapPrm", "CapEff", "CapAmb"])
        expect(status).toMatch(new RegExp(`^${set}:\\s+0+$`, "m"));
      expect(status).not.toMatch(/^Uid:.*\s0\s/m);
    }
  });

  test.runIf(runs)("nothing of it is left when it has ended", async () => {
    const { pid } = escaped.child;
    expect(childrenOf(pid)).toEqual([]);
    const ended = new Promise((resolve) => escaped.child.once("exit", resolve));
    escaped.stop();
    await ended;
    expect(childrenOf(pid)).toEqual([]);
  });
});

const { landlock } = createChildLauncher().containment;
const EACCES = -13;

describe.runIf(isLinux && landlock)("native code that Landlock alone holds", () => {
  const { folder, keyFile, port, pid } = targets;
  let escaped: Escaped;
  beforeAll(async () => {
    const flag = isRoot ? `--user=${SERVICE_USER} --unconfined` : "--unconfined";
    escaped = await startEscaped({ flag });
  });
  afterAll(() => escaped.stop());

  test.each([
    { what: "reads a key of the data directory", attempt: call("openat", AT_FDCWD, keyFile, 0) },
    { what: "writes a token into it", attempt: call("openat", AT_FDCWD, `${folder}/token`, 0o101, 0o600) },
    { what: "removes a file of it", attempt: call("unlinkat", AT_FDCWD, keyFile, 0) },
    { what: "lists a folder", attempt: call("openat", AT_FDCWD, "/", 0o200000) },
    { what: "reads a process's environment", attempt: call("openat", AT_FDCWD, `/proc/${pid}/environ`, 0) },
    { what: "opens its own memory", attempt: call("openat", AT_FDCWD, "/proc/self/mem", 2) },
    { what: "executes a program", attempt: call("execve", "/bin/true", 0, 0) },
    { what: "signals a process", attempt: call("kill", pid, 0), refusal: EPERM },
    { what: "traces a process", attempt: call("ptrace", 0x4206, pid, 0, 0), refusal: EPERM },
    { what: "mounts", attempt: call("mount", "x", "/mnt", "tmpfs", 0, 0), refusal: EPERM },
  ])("$what", async ({ attempt, refusal }) => {
    expect(await escaped.attempt(codeOf(attempt))).toEqual({ value: refusal ?? EACCES });
  });

  test("connects to a port", async () => {
    const { value: socket } = await escaped.attempt(codeOf(call("socket", AF_INET, 1, 0)));
    expect(socket).toBeGreaterThan(2);
    const connect = call("connect", socket as number, tcpAddress(port), 16);
    expect(await escaped.attempt(codeOf(connect))).toEqual({ value: EACCES });
  });
});

describe.runIf(isLinux)("native code that gave nothing up", () => {
  test("comes through these doors, so that the checks can fail", async () => {
    const { keyFile, socketFile, pid } = targets;
    const flag = isRoot ? `--user=${SERVICE_USER} --unconfined` : "--unconfined";
    // Without tools there is neither Landlock nor a network namespace.
    const escaped = await startEscaped({ flag, launcher: { toolFolders: [] } });
    try {
      const value = async (attempt: NativeCall): Promise<unknown> =>
        (await escaped.attempt(codeOf(attempt))).value;
      expect(await value(call("openat", AT_FDCWD, keyFile, 0))).toBeGreaterThan(2);
      expect(await value(call("kill", pid, 0))).toBe(0);
      expect(await value(call("fcntl", 0, F_SETOWN, pid))).toBe(0);
      const socket = (await value(call("socket", AF_UNIX, 1, 0))) as number;
      expect(socket).toBeGreaterThan(2);
      expect(await value(call("connect", socket, unixAddress(socketFile), socketFile.length + 3))).toBe(0);
      expect(await value(call("socket", AF_INET, 1, 0))).toBeGreaterThan(2);
      await expect.poll(() => targets.connections()).toBe(1);
    } finally {
      escaped.stop();
    }
  });
});
