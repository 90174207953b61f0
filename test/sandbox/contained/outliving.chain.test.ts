import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { TOOL_FOLDERS } from "../../../sandbox/host/landlock.ts";
import { findKernel } from "../../../sandbox/build/buildKernel.ts";
import { probePidNamespace } from "../../../sandbox/host/pidNamespace.ts";
import { releaseUserId, takeUserId } from "../../../sandbox/host/userIds.ts";
import { isLinux, isRoot, processesOfGroup, SERVICE_USER } from "./targets.ts";

const hasPidNamespace = probePidNamespace(TOOL_FOLDERS).length > 0;
let service: ChildProcess | undefined;
let group: number | undefined;
afterEach(() => {
  service?.kill("SIGKILL");
  for (const pid of group === undefined ? [] : processesOfGroup(group)) process.kill(pid, "SIGKILL");
});

/** Starts a service whose bundler was taken over and has started a program; resolves with the bundler's process group. */
async function startOverrun(ownUser: boolean): Promise<number> {
  const uid = ownUser ? takeUserId() : null;
  const script = fileURLToPath(new URL("outlivingService.ts", import.meta.url));
  const user = isRoot && !ownUser ? String(SERVICE_USER) : "";
  const given = JSON.stringify({ uid, isFilterRequired: true, kernel: findKernel() });
  service = spawn(process.execPath, [script, given, user], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(service.stdout!, "data")) as [Buffer];
  if (uid !== null) releaseUserId(uid);
  return (group = Number(String(line)));
}

describe.runIf(isLinux && hasPidNamespace).each([
  { as: "a user of its own, under root", ownUser: true, runs: isRoot },
  { as: "the service's user", ownUser: false, runs: true },
])("what overran a bundler that has $as, and started a program", ({ ownUser, runs }) => {
  test.runIf(runs)("ends when the service is killed", async () => {
    const of = await startOverrun(ownUser);
    // The waiting process (setpriv becomes unshare), the bundler and the program.
    expect(processesOfGroup(of)).toHaveLength(3);
    service!.kill("SIGKILL");
    await expect.poll(() => processesOfGroup(of)).toEqual([]);
  });
});
