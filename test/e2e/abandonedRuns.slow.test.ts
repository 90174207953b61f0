import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startTycheProcess, type TycheProcess } from "../support/tyche.ts";

/** More endless runs than end while the test waits: each takes 10 s, and a few run at once. */
const RUNS = 60;

let tyche: TycheProcess;
beforeAll(async () => {
  tyche = await startTycheProcess({ networks: ["sepolia"] });
});
afterAll(async () => {
  await tyche.stop();
});

/** Returns the number of dry runs that are queued or running. */
async function countRuns(): Promise<number> {
  const metrics = await (await fetch(`${tyche.url}/metrics`)).text();
  const counts = [...metrics.matchAll(/^tyche_sandbox_runs_(?:busy|queued) (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

test.each([
  ["dry runs", "simulate", {}],
  ["functions", "runFunction", { network: "sepolia" }],
])("%s whose caller has left don't hold the sandbox", async (_name, operation, place) => {
  const left = new AbortController();
  const calls = Array.from({ length: RUNS }, () =>
    fetch(`${tyche.url}/api/oracleFunctions/${operation}`, {
      method: "POST",
      headers: { authorization: tyche.apiKey, "content-type": "application/json" },
      body: JSON.stringify({ ...place, source: "while (true) {}" }),
      signal: left.signal,
    }),
  );
  await vi.waitFor(async () => expect(await countRuns()).toBe(RUNS));
  left.abort();
  expect((await Promise.allSettled(calls)).every(({ status }) => status === "rejected")).toBe(true);
  await vi.waitFor(async () => expect(await countRuns()).toBe(0), { timeout: 60_000 });
});
