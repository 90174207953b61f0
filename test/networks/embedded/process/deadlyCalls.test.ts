import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { BrokenConnectionError } from "../../../../src/evm/connection.ts";
import { openDeadlyCalls, type DeadlyCalls } from "../../../../src/networks/embedded/process/deadlyCalls.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tyche-test-"));
  vi.useFakeTimers({ now: 0, toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

const SLOW = "0x01";
const OTHER = "0x02";
let isMining = true;
const open = () =>
  openDeadlyCalls({
    file: path.join(folder, "deadly-calls.txt"),
    isMining: async () => isMining,
    onError(error) {
      throw error;
    },
  });

/** Sends the slow transaction and then the other one; returns how to fail the former, and what became of the latter. */
const sendBoth = (calls: DeadlyCalls) => {
  let fail = (_: Error): void => {};
  const slow = calls.send(SLOW, () => new Promise((_, reject) => (fail = reject)));
  slow.catch(() => {});
  const sendOther = vi.fn<() => Promise<string>>(async () => "sent");
  const other = calls.send(OTHER, sendOther);
  return { fail: (error: Error) => fail(error), sendOther, other };
};

test.each([
  ["breaks the connection", new BrokenConnectionError()],
  ["is given up as too slow before", new Error("no answer within 10000 ms")],
])("blames a transaction that %s, and none that waits for it", async (_, error) => {
  const calls = open();
  calls.onOutOfMemory();
  for (let deaths = 0; deaths < 2; deaths += 1) {
    isMining = true;
    const { fail, sendOther, other } = sendBoth(calls);
    await vi.advanceTimersByTimeAsync(30_000);
    fail(error);
    await vi.advanceTimersByTimeAsync(500);
    expect(sendOther).not.toHaveBeenCalled();
    calls.onOutOfMemory();
    expect(await other).toBe("sent");
  }
  await expect(calls.send(SLOW, async () => "sent")).rejects.toThrow("too large to execute");
  await expect(open().send(SLOW, async () => "sent")).rejects.toThrow("too large to execute");
});

test("sends the next transaction while one waits for an earlier nonce", async () => {
  isMining = false;
  const calls = open();
  calls.onOutOfMemory();
  const waiting = calls.send(SLOW, () => new Promise(() => {}));
  waiting.catch(() => {});
  const next = calls.send(OTHER, async () => "sent");
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await next).toBe("sent");
});
