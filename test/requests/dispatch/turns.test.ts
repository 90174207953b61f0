import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createTurns } from "../../../src/requests/dispatch/dispatcher.ts";

const controller = new AbortController();

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Creates turns whose work ends when the test says so; `began` counts how many were admitted. */
function createScene(limits: { maxInFlight?: number; paceMs?: number } = {}) {
  const ends: (() => void)[] = [];
  let isFull = false;
  let began = 0;
  const { signal } = controller;
  const turns = createTurns({ ...limits, isFull: () => isFull, signal });
  const ask = async (): Promise<void> => {
    await turns.next();
    began += 1;
    turns.run(() => new Promise((resolve) => ends.push(resolve)));
  };
  return { turns, ends, ask, began: () => began, fill: () => void (isFull = true) };
}
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test("one after the other", async () => {
  const { ask, ends, began } = createScene();
  await ask();
  void ask();
  await pass(10_000);
  expect(began()).toBe(1);
  ends[0]!();
  await pass(0);
  expect(began()).toBe(2);
});

test("beside one under way when the pace has come", async () => {
  const { ask, began } = createScene({ maxInFlight: 2, paceMs: 250 });
  await ask();
  void ask();
  await pass(249);
  expect(began()).toBe(1);
  await pass(1);
  expect(began()).toBe(2);
});

test("a full one waits for no pace, but for a place", async () => {
  const { turns, ask, ends, began, fill } = createScene({ maxInFlight: 2, paceMs: 250 });
  await ask();
  void ask();
  await pass(1);
  fill();
  turns.look();
  await pass(0);
  expect(began()).toBe(2);
  void ask();
  await pass(10_000);
  expect(began()).toBe(2);
  ends[1]!();
  await pass(0);
  expect(began()).toBe(3);
});

test("idle waits for the work under way alone", async () => {
  const { turns, ask, ends } = createScene({ maxInFlight: 2, paceMs: 0 });
  await ask();
  await ask();
  let isIdle = false;
  void turns.idle().then(() => (isIdle = true));
  ends[0]!();
  await pass(0);
  expect(isIdle).toBe(false);
  ends[1]!();
  await pass(0);
  expect(isIdle).toBe(true);
});
