import { expect, test } from "vitest";
import { classOf, createGate } from "../../../src/networks/embedded/gate.ts";

test("an open gate lets go at once, and nothing is under way after that", async () => {
  const gate = createGate();
  const leave = await gate.enter("read");
  leave();
  await expect(gate.drained(["read", "send", "mine"])).resolves.toBeUndefined();
});

test("a class is held until all that hold it have let go, others pass", async () => {
  const gate = createGate();
  const releases = [gate.hold(["send", "read"]), gate.hold(["read"])];
  (await gate.enter("mine"))();
  const passed: string[] = [];
  const send = gate.enter("send").then((leave) => passed.push("send") && leave());
  const read = gate.enter("read").then((leave) => passed.push("read") && leave());
  releases[0]!();
  await send;
  expect(passed).toEqual(["send"]);
  releases[1]!();
  await read;
  expect(passed).toEqual(["send", "read"]);
});

test("drained waits for those under way", async () => {
  const gate = createGate();
  const leave = await gate.enter("read");
  let isDrained = false;
  const drained = gate.drained(["read", "mine"]).then(() => (isDrained = true));
  (await gate.enter("send"))();
  expect(isDrained).toBe(false);
  leave();
  await drained;
});

test.each([
  ["eth_sendRawTransactionSync", "send"],
  ["eth_sendTransaction", "send"],
  ["anvil_mine", "mine"],
  ["evm_mine", "mine"],
  ["evm_setAutomine", "mine"],
  ["evm_setIntervalMining", "mine"],
  ["eth_call", "read"],
])("%s is of the class %s", (method, requestClass) => {
  expect(classOf(method)).toBe(requestClass);
});

test("entered counts those that were let in, and leftAt tells when the last one ended, each class by itself", async () => {
  const gate = createGate();
  const release = gate.hold(["read"]);
  const held = gate.enter("read");
  expect(gate.entered("read")).toBe(0);
  release();
  await held;
  expect(gate.entered("read")).toBe(1);
  expect(gate.entered("send")).toBe(0);
  expect(gate.leftAt("send")).toBe(0);
  const leave = await gate.enter("send");
  expect(gate.leftAt("send")).toBe(0);
  leave();
  expect(gate.leftAt("send")).toBeGreaterThan(0);
  expect(gate.leftAt("mine")).toBe(0);
});
