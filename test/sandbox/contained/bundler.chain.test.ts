import type { ChildProcess } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Confinement } from "../../../sandbox/host/child/confine.ts";
import { findKernel } from "../../../sandbox/build/buildKernel.ts";
import { createChildLauncher } from "../../../sandbox/host/launch.ts";
import { forkBundler } from "../../../sandbox/host/net/modules/forkBundler.ts";
import { TOOL_FOLDERS } from "../../../sandbox/host/landlock.ts";
import { probePidNamespace } from "../../../sandbox/host/pidNamespace.ts";
import { releaseUserId, takeUserId } from "../../../sandbox/host/userIds.ts";
import { createDoors, EPERM } from "./doors.ts";
import { childrenOf, isLinux, isRoot, SERVICE_USER, startTargets, threadsOf } from "./targets.ts";

const targets = await startTargets();
afterAll(() => targets.stop());

/**
 * System calls that esbuild's start needs stay open to its process: without Landlock also executing a program, which is equally confined.
 */
const { landlock } = createChildLauncher().containment;
const OPEN_TO_ESBUILD = new Set(["makes a pair of sockets", ...(landlock ? [] : ["executes a program"])]);
const doors = createDoors(targets).filter(({ what }) => !OPEN_TO_ESBUILD.has(what));
/** The filter allows these calls, and Landlock refuses the file. */
const REFUSED_BY_LANDLOCK = new Set(["executes a program"]);
const EACCES = -13;

const hasPidNamespace = probePidNamespace(TOOL_FOLDERS).length > 0;

interface Answer {
  readonly asEsbuild: readonly number[];
  readonly asNode: readonly number[];
  readonly code: string;
}

describe.runIf(isLinux).each([
  { as: "a user of its own, under root", ownUser: true, runs: isRoot },
  { as: "the service's user", ownUser: false, runs: true },
])("native code in a bundler that has $as", ({ ownUser, runs }) => {
  let child: ChildProcess;
  let answer: Answer;
  const uid = runs && ownUser ? takeUserId() : null;

  beforeAll(async () => {
    if (!runs) return;
    const confinement: Confinement = { uid, isFilterRequired: true, kernel: findKernel() };
    const user = isRoot && !ownUser ? String(SERVICE_USER) : "";
    const entry = fileURLToPath(new URL("bundlerEntry.ts", import.meta.url));
    child = forkBundler(entry, confinement, [dirname(entry)], user);
    child.send(doors.map(({ attempt }) => attempt));
    answer = await new Promise<Answer>((resolve, reject) => {
      child.once("message", (message) => resolve(message as Answer));
      child.once("exit", (code, signal) => reject(new Error(`the bundler ended: ${code ?? signal}`)));
    });
  });
  afterAll(() => {
    child?.kill("SIGKILL");
    if (uid !== null) releaseUserId(uid);
  });

  test.runIf(runs)("esbuild works", () => {
    expect(answer.code).toBe("alert(2);\n");
  });

  test.runIf(runs)("no door is open to esbuild's process, nor to Node's", () => {
    const expected = Object.fromEntries(doors.map(({ what, refusal }) => [what, refusal ?? EPERM]));
    const ofEsbuild = doors.map(({ what }) => [
      what,
      REFUSED_BY_LANDLOCK.has(what) ? EACCES : expected[what],
    ]);
    const named = (results: readonly number[]) =>
      Object.fromEntries(doors.map(({ what }, at) => [what, results[at]]));
    expect(named(answer.asEsbuild)).toEqual(Object.fromEntries(ofEsbuild));
    expect(named(answer.asNode)).toEqual(expected);
  });

  test.runIf(runs)("all threads of both are filtered and have the user's rights", () => {
    // In a process id namespace, there is one more process in between.
    const bundler = hasPidNamespace ? childrenOf(child.pid)[0] : child.pid;
    const [esbuild] = childrenOf(bundler);
    expect(esbuild).toBeDefined();
    for (const status of [bundler, esbuild].flatMap((pid) => threadsOf(pid))) {
      expect(status).toMatch(/^Seccomp:\s+2$/m);
      expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
      expect(status).toMatch(/^CapEff:\s+0+$/m);
      expect(status).toMatch(new RegExp(`^Uid:\\s+${uid ?? SERVICE_USER}\\s`, "m"));
    }
  });
});
