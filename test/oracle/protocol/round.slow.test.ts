import { expect, test } from "vitest";
import { BROKEN_RULES, loadBroken } from "./brokenRules.ts";
import { DERIVED, ROUND } from "./protocols.ts";
import { runSchedule } from "./simulator.ts";

/** 30,000 in total, about 16 s on a slow core; `npm run test:protocol` runs 100,000 and more. */
const PARTS = 6;
const SCHEDULES_PER_PART = 5_000;
/** The rarest violation of those below shows up after 800. */
const SCHEDULES_TO_FIND = 5_000;
/** The number of schedules bounds the time; only a busy machine needs this long. */
const PATIENCE_MS = 300_000;

test.for(Array.from({ length: PARTS }, (_, part) => 1 + part * SCHEDULES_PER_PART))(
  "no invariant is broken in the 5,000 schedules from seed %i on",
  { timeout: PATIENCE_MS },
  (first) => {
    const seeds = Array.from({ length: SCHEDULES_PER_PART }, (_, index) => first + index);
    const broken = seeds.flatMap((seed) => {
      const { violation } = runSchedule(ROUND, seed);
      return violation === undefined ? [] : [`seed ${seed}: ${violation}`];
    });
    expect(broken).toEqual([]);
  },
);

test(
  "no invariant is broken in 20,000 schedules of nodes that derive the result",
  { timeout: PATIENCE_MS },
  () => {
    const seeds = Array.from({ length: 4 * SCHEDULES_PER_PART }, (_, index) => 1 + index);
    const broken = seeds.flatMap((seed) => {
      const { violation } = runSchedule(DERIVED, seed);
      return violation === undefined ? [] : [`seed ${seed}: ${violation}`];
    });
    expect(broken).toEqual([]);
  },
);

/** Some 3 s each on a slow core: messages grow with the square of the number of nodes. */
test.for([
  [7, 1_000],
  [31, 60],
] as const)(
  "of %i nodes, no invariant is broken in %i schedules",
  { timeout: PATIENCE_MS },
  ([nodes, schedules]) => {
    const seeds = Array.from({ length: schedules }, (_, index) => 1 + index);
    const broken = seeds.flatMap((seed) => {
      const { violation } = runSchedule(ROUND, seed, nodes);
      return violation === undefined ? [] : [`seed ${seed}: ${violation}`];
    });
    expect(broken).toEqual([]);
  },
);

test.for(BROKEN_RULES)("a node that no longer $rule is caught", { timeout: PATIENCE_MS }, async (broken) => {
  const protocol = await loadBroken(broken);
  const seeds = Array.from({ length: SCHEDULES_TO_FIND }, (_, index) => index + 1);
  expect(seeds.some((seed) => runSchedule(protocol, seed).violation !== undefined)).toBe(true);
});

test("the same seed is the same schedule", () => {
  expect(runSchedule(ROUND, 7)).toEqual(runSchedule(ROUND, 7));
});
