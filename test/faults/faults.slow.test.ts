import { afterAll, beforeAll, expect, test } from "vitest";
import { FAULTS } from "./catalogue/catalogue.ts";
import { inject } from "./injector.ts";
import { createWorld, type World } from "./world.ts";

/** Faults that no other test covers and that take seconds, one after the other on one service; `npm run soak:faults` runs all of them. */
const SHORT_FAULTS = FAULTS.flatMap((fault) =>
  fault.testLastsMs === undefined ? [] : [{ fault, name: fault.name, lastsMs: fault.testLastsMs }],
);
/** Far more than a case takes: if something hangs, the injector reports what it was. */
const TIMEOUT_MS = 400_000;
/** `test/e2e/hungChain.service.test.ts` measures how fast `/readyz` is; here it must only not hang. */
const READYZ_DEADLINE_MS = 30_000;
/** A quarter of the long run's load: after every fault, each request is checked against the chain again. */
const PAUSE_MS = 100;

const known = new Set<string>();
let world: World;
beforeAll(async () => {
  world = await createWorld();
}, TIMEOUT_MS);
afterAll(() => world.close());

test.each(SHORT_FAULTS)(
  "every invariant holds after: $name",
  async ({ fault, lastsMs }) => {
    const number = SHORT_FAULTS.findIndex((one) => one.fault === fault);
    const report = await inject(world, fault, {
      lastsMs,
      number,
      known,
      readyzDeadlineMs: READYZ_DEADLINE_MS,
      pauseMs: PAUSE_MS,
    });
    expect(report.breaches).toEqual([]);
    expect(report.accepted).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);
