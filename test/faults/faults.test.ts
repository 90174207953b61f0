import { afterAll, beforeAll, expect, test } from "vitest";
import { FAULTS } from "./catalogue/catalogue.ts";
import { inject } from "./injector.ts";
import { createWorld, type World } from "./world.ts";

/** What no other test has and is over in seconds, one after the other on one service: `npm run soak:faults` runs them all. */
const SHORT_FAULTS = FAULTS.flatMap((fault) =>
  fault.testLastsMs === undefined ? [] : [{ fault, name: fault.name, lastsMs: fault.testLastsMs }],
);
/** Far more than a case takes: of what hangs, the injector says what it was. */
const TIMEOUT_MS = 400_000;
/** How fast `/readyz` is, `test/e2e/hungChain.test.ts` measures; here it must not hang. */
const READYZ_DEADLINE_MS = 30_000;
/** A quarter of the long run's load: each request is read from the chain again after every fault. */
const PAUSE_MS = 100;

const known = new Set<string>();
let world: World;
beforeAll(async () => {
  world = await createWorld();
}, TIMEOUT_MS);
afterAll(() => world.close());

test.each(SHORT_FAULTS)(
  "behaviour: every invariant holds after: $name",
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
