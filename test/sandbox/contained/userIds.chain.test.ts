import { spawn } from "node:child_process";
import { statSync } from "node:fs";
import { expect, test } from "vitest";
import { releaseUserId, takeUserId } from "../../../sandbox/host/userIds.ts";

const isLinux = process.platform === "linux";
const isRoot = isLinux && process.getuid?.() === 0;

test.runIf(isLinux)("no id is given out twice at a time, a released one comes last", () => {
  const [first, second] = [takeUserId(), takeUserId()];
  releaseUserId(first);
  const third = takeUserId();
  expect(new Set([first, second, third]).size).toBe(3);
  releaseUserId(second);
  releaseUserId(third);
});

test.runIf(isRoot)("an id that any process still has is not given out", async () => {
  const uid = takeUserId() + 1;
  // Simulates a process that outlived an earlier service, on exactly the id that comes next.
  const left = spawn("sleep", ["1000"], { stdio: "ignore", uid, gid: uid });
  try {
    await expect.poll(() => statSync(`/proc/${left.pid}`).uid).toBe(uid);
    // Another process of this machine may have any of the ids after it.
    expect(takeUserId()).not.toBe(uid);
  } finally {
    left.kill("SIGKILL");
  }
});
