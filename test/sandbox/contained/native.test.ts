import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AF_INET, AF_UNIX, AT_FDCWD, call, createDoors, EPERM, F_SETOWN, unixAddress } from "./doors.ts";
import type { NativeCall } from "./doors.ts";
import { startEscaped, type Escaped } from "./startEscaped.ts";
import { childrenOf, isLinux, isRoot, SERVICE_USER, startTargets, threadsOf } from "./targets.ts";

/**
 * What native code in a child can reach, by the system calls themselves: neither V8 nor Node's permission model is asked.
 * As root a child has a user of its own; as an ordinary user it has the service's, who owns all that is tried here.
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

  test.runIf(runs).each(createDoors(targets))("error: $what", async ({ attempt, refusal }) => {
    expect(await escaped.attempt(codeOf(attempt))).toEqual({ value: refusal ?? EPERM });
  });

  test.runIf(runs)(
    "behaviour: a thread's own priority is told, another process's is not looked up",
    async () => {
      const ask = async (pid: number): Promise<unknown> =>
        (await escaped.attempt(codeOf(call("sched_getscheduler", pid)))).value;
      expect(await ask(0)).toBe(0);
      expect(await ask(2 ** 22 + 1)).toBe(0);
    },
  );

  test.runIf(runs)("behaviour: every thread is filtered, none can gain a privilege", () => {
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

  test.runIf(runs)("behaviour: nothing of it is left when it has ended", async () => {
    const { pid } = escaped.child;
    expect(childrenOf(pid)).toEqual([]);
    const ended = new Promise((resolve) => escaped.child.once("exit", resolve));
    escaped.stop();
    await ended;
    expect(childrenOf(pid)).toEqual([]);
  });
});

describe.runIf(isLinux)("native code that gave nothing up", () => {
  test("behaviour: comes through these doors, so that the checks can fail", async () => {
    const { keyFile, socketFile, pid } = targets;
    const flag = isRoot ? `--user=${SERVICE_USER} --unconfined` : "--unconfined";
    const escaped = await startEscaped({ flag });
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
