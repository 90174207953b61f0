import { afterEach, expect, test } from "vitest";
import { startBalancer, type Balancer } from "../support/balancer.ts";
import { API_KEY } from "./exampleService.ts";
import { PATIENT, startHarness, type Harness } from "./harness.ts";

const LANES = 4;
/** Many times what a balancer needs to notice. */
const limits = { drainDelayMs: 4_000, closeGraceMs: 60_000 };

const open: Balancer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});
const startBalanced = async (servers: readonly Harness[]): Promise<Balancer> => {
  const balancer = await startBalancer(servers.map(({ server }) => server.url));
  open.push(balancer);
  await expect.poll(() => balancer.ready().length, PATIENT).toBe(servers.length);
  return balancer;
};

/** Starts callers that repeat calls until `stop`, which returns how often each status occurred. */
function callOnAndOn(url: string): { readonly count: () => number; stop(): Promise<Record<number, number>> } {
  const statuses: Record<number, number> = {};
  let isOver = false;
  let count = 0;
  const lanes = Array.from({ length: LANES }, async () => {
    while (!isOver) {
      const response = await fetch(`${url}/api/vrfv2/presets`, {
        method: "POST",
        headers: { authorization: API_KEY },
      });
      await response.text();
      statuses[response.status] = (statuses[response.status] ?? 0) + 1;
      count += 1;
    }
  });
  return {
    count: () => count,
    async stop() {
      isOver = true;
      await Promise.all(lanes);
      return statuses;
    },
  };
}

test("while one of two servers is drained and closed, no call of a balancer's fails", async () => {
  const [first, second] = [await startHarness({ limits }), await startHarness()];
  const balancer = await startBalanced([first, second]);
  const callers = callOnAndOn(balancer.url);
  await expect
    .poll(() => Math.min(first.service.submitted.length, second.service.submitted.length), PATIENT)
    .toBeGreaterThan(5);
  await first.server.close();
  expect(balancer.ready()).toEqual([second.server.url]);
  const before = callers.count();
  await expect.poll(() => callers.count(), PATIENT).toBeGreaterThan(before + 5);
  expect(Object.keys(await callers.stop())).toEqual(["200"]);
});

test("a restart behind a balancer that holds calls meanwhile fails none", async () => {
  const first = await startHarness({ limits });
  const balancer = await startBalanced([first]);
  const callers = callOnAndOn(balancer.url);
  await expect.poll(() => callers.count(), PATIENT).toBeGreaterThan(5);
  await first.server.close();
  const second = await startHarness();
  balancer.setServers([second.server.url]);
  await expect.poll(() => second.service.submitted.length, PATIENT).toBeGreaterThan(5);
  expect(Object.keys(await callers.stop())).toEqual(["200"]);
});
