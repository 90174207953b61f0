import { afterEach, expect, test, vi } from "vitest";
import { createGroupCommit, measureFront, lanesOf } from "../../src/oracle/groupCommit.ts";

/** Creates a group of numbers whose commits end when the test says so. */
function createScene({
  lanes = 1,
  room = 3,
  gatherDelayMs = (): number => 0,
  paceMs = undefined as number | undefined,
} = {}) {
  const commits: { items: readonly number[]; end(error?: Error): void }[] = [];
  const failed: (readonly number[])[] = [];
  const controller = new AbortController();
  const group = createGroupCommit<number, number>({
    lanes: Array.from({ length: lanes }, (_, lane) => lane),
    pipelining: { maxInFlight: 1, paceMs },
    isAlone: () => false,
    fits: () => true,
    most: room,
    gatherDelayMs,
    commit: (items) =>
      new Promise((resolve, reject) => {
        commits.push({ items, end: (error) => (error ? reject(error) : resolve()) });
      }),
    onError: (_, items) => void failed.push(items),
    signal: controller.signal,
  });
  return { group, commits, failed, controller, items: () => commits.map(({ items }) => items) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
/** Advances fake time by `ms` milliseconds, and one turn of the event loop. */
const pass = async (ms: number) => {
  await turn();
  vi.advanceTimersByTime(ms);
  await turn();
};

afterEach(() => {
  vi.useRealTimers();
});

test("an idle group commits at once, what is pushed in one turn together", async () => {
  const { group, items } = createScene();
  group.push(1);
  group.push(2);
  await turn();
  expect(items()).toEqual([[1, 2]]);
});

test("what gathers during a commit goes in the next, in order", async () => {
  const { group, commits, items } = createScene({ room: 9 });
  group.push(1);
  await turn();
  for (const item of [2, 3, 4]) group.push(item);
  await turn();
  expect([items(), group.queued, group.inFlight]).toEqual([[[1]], 3, 1]);
  commits[0]!.end();
  await turn();
  expect(items()).toEqual([[1], [2, 3, 4]]);
});

test("a full commit starts beside one under way, on a free lane", async () => {
  const { group, items } = createScene({ lanes: 2 });
  group.push(1);
  await turn();
  group.push(2, 3);
  await turn();
  expect(items()).toEqual([[1]]);
  group.push(4, 5, 6, 7);
  await turn();
  expect(items()).toEqual([[1], [2, 3, 4]]);
});

test("a commit that is not full waits for company as long as it is told", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { group, items } = createScene({ gatherDelayMs: () => 20 });
  group.push(1);
  await pass(19);
  group.push(2);
  await pass(0);
  expect(items()).toEqual([]);
  await pass(1);
  expect(items()).toEqual([[1, 2]]);
});

test("a commit that gets full waits no longer, and the next waits anew", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { group, commits, items } = createScene({ gatherDelayMs: () => 20 });
  group.push(1);
  await pass(10);
  group.push(2, 3, 4);
  await pass(0);
  expect(items()).toEqual([[1, 2, 3]]);
  commits[0]!.end();
  await pass(19);
  expect(items()).toEqual([[1, 2, 3]]);
  await pass(1);
  expect(items()).toEqual([[1, 2, 3], [4]]);
});

test("what has waited long enough while a commit was under way waits again after it", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { group, commits, items } = createScene({ lanes: 2, gatherDelayMs: () => 20 });
  group.push(1, 2, 3);
  group.push(4);
  await pass(100);
  expect(items()).toEqual([[1, 2, 3]]);
  commits[0]!.end();
  await pass(20);
  expect(items()).toEqual([[1, 2, 3], [4]]);
});

test("more than one commit holds is split", async () => {
  const { group, commits, items } = createScene();
  group.push(1, 2, 3, 4);
  await turn();
  commits[0]!.end();
  await turn();
  expect(items()).toEqual([[1, 2, 3], [4]]);
});

test("once aborted nothing more is committed", async () => {
  const { group, commits, controller, items } = createScene();
  group.push(1);
  await turn();
  group.push(2);
  controller.abort();
  commits[0]!.end();
  await turn();
  expect(items()).toEqual([[1]]);
});

test("a failed commit is told with its items, and the next goes on", async () => {
  const { group, commits, failed, items } = createScene();
  group.push(1);
  await turn();
  group.push(2);
  commits[0]!.end(new Error("no luck"));
  await turn();
  expect([failed, items()]).toEqual([[[1]], [[1], [2]]]);
});

test("with a pace, what isn't full starts beside others when that has come, and what is full at once", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  const { group, items } = createScene({ lanes: 4, paceMs: 250 });
  group.push(1);
  await turn();
  group.push(2);
  await pass(249);
  expect(items()).toEqual([[1]]);
  group.push(3, 4, 5);
  await turn();
  expect(items()).toEqual([[1], [2, 3, 4]]);
  await pass(1);
  expect(items()).toEqual([[1], [2, 3, 4], [5]]);
});

test("lanesOf gives each account its turn", () => {
  expect(lanesOf(["a", "b"], 2)).toEqual(["a", "b", "a", "b"]);
});

test.each([
  { queue: [4, 4, 4], count: 2, full: true },
  { queue: [4, 4], count: 2, full: false },
  { queue: [1, 1, 1], count: 3, full: true },
  { queue: [1, 1, 1, 1], count: 3, full: true },
  { queue: [20], count: 1, full: false },
  { queue: [20, 1], count: 1, full: true },
  { queue: [0, 1], count: 1, full: true },
  { queue: [0], count: 1, full: true },
  { queue: [1, 0, 1], count: 1, full: true },
])(
  "of $queue, $count share a commit that takes 10 and three items (0 goes alone)",
  ({ queue, ...expected }) => {
    const sum = (items: readonly number[]): number => items.reduce((all, one) => all + one, 0);
    const isAlone = (item: number): boolean => item === 0;
    expect(measureFront(queue, { isAlone, fits: (items) => sum(items) <= 10, most: 3 })).toEqual(expected);
  },
);
