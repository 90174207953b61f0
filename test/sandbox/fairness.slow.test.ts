import { afterEach, expect, test, vi } from "vitest";
import { createSandboxPool, type SandboxPool, type SandboxPoolOptions } from "../../sandbox/index.ts";

const pools: SandboxPool[] = [];
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

const start = async (options: SandboxPoolOptions) => {
  const pool = createSandboxPool(options);
  pools.push(pool);
  await pool.ready();
  return pool;
};
const QUICK = "return new Uint8Array(1)";
/** Runs until it is aborted or its pool is closed. */
const ENDLESS = { source: "for (;;) {}", limits: { timeoutMs: 600_000 } };
const isBusy = (pool: SandboxPool) =>
  vi.waitFor(() => expect(pool.stats().busy).toBeGreaterThan(0), { interval: 5 });

test("a caller's slow sources don't hold up another caller", async () => {
  const pool = await start({ concurrency: 2 });
  let slowEnded = 0;
  const slow = Array.from({ length: 12 }, () =>
    pool.run({ ...ENDLESS, caller: "slow" }).finally(() => (slowEnded += 1)),
  );
  const slowDone = Promise.allSettled(slow);
  await isBusy(pool);
  for (let count = 0; count < 5; count++) {
    expect(await pool.run({ source: QUICK, caller: "quick" })).toMatchObject({ ok: true });
  }
  expect(slowEnded).toBe(0);
  await pool.close();
  await slowDone;
});

test("what waits behind a slow run of its group moves to another child", async () => {
  const pool = await start({ concurrency: 1 });
  const end = new AbortController();
  const slow = pool.run({ ...ENDLESS, group: "g", signal: end.signal });
  const slowDone = Promise.allSettled([slow]);
  let done = 0;
  const behind = Array.from({ length: 15 }, () =>
    pool.run({ source: QUICK, group: "g" }).finally(() => (done += 1)),
  );
  // Runs that the busy child already holds stay with it.
  await vi.waitFor(() => expect(done).toBeGreaterThanOrEqual(12), { interval: 5 });
  end.abort();
  expect(await slowDone).toMatchObject([{ reason: { code: "run_aborted" } }]);
  for (const result of await Promise.all(behind)) expect(result).toMatchObject({ ok: true });
});

test("callers with slow sources leave a child to whoever comes next, however many children each may take", async () => {
  const pool = await start({ concurrency: 1, maxWorkers: 4 });
  const slow = ["one", "two"].flatMap((caller) =>
    Array.from({ length: 8 }, () => pool.run({ ...ENDLESS, caller })),
  );
  const slowDone = Promise.allSettled(slow);
  await vi.waitFor(() => expect(pool.stats().busy).toBeGreaterThanOrEqual(3), {
    timeout: 60_000,
    interval: 5,
  });
  for (let count = 0; count < 3; count++)
    expect(await pool.run({ source: QUICK, caller: "quick" })).toMatchObject({ ok: true });
  expect(pool.stats()).toMatchObject({ busy: 3, queued: 13 });
  await pool.close();
  await slowDone;
});

test("a caller's turn ends after one long run, whatever its child has in hand", async () => {
  const pool = await start({ concurrency: 1, maxWorkers: 2 });
  const endless = Promise.allSettled([pool.run({ ...ENDLESS, caller: "endless" })]);
  let ended = 0;
  // They go to the other child all at once: repeating the previous source costs next to nothing to send.
  const source = "const end = Date.now() + 1_200; while (Date.now() < end); return new Uint8Array(1);";
  const long = Array.from({ length: 8 }, () =>
    pool.run({ source, caller: "long", group: "long" }).then(() => (ended += 1)),
  );
  const longDone = Promise.allSettled(long);
  await vi.waitFor(() => expect(pool.stats()).toMatchObject({ queued: 0 }), { timeout: 60_000, interval: 5 });
  const before = ended;
  await pool.run({ source: QUICK, caller: "quick" });
  expect(ended - before).toBeLessThanOrEqual(2);
  await pool.close();
  await Promise.all([endless, longDone]);
});

test("a caller that floods the queue leaves room for others, and they take turns", async () => {
  const pool = await start({ concurrency: 1, maxWorkers: 2, maxQueue: 100 });
  const order: string[] = [];
  const flood = Array.from({ length: 60 }, () =>
    pool.run({ source: QUICK, caller: "flood" }).then(() => order.push("flood")),
  );
  const other = pool.run({ source: QUICK, caller: "other" }).then(() => order.push("other"));
  const outcomes = await Promise.allSettled([...flood, other]);
  const refused = outcomes.filter((outcome) => outcome.status === "rejected");
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.every((outcome) => (outcome.reason as { code: string }).code === "sandbox_overloaded")).toBe(
    true,
  );
  expect(order.indexOf("other")).toBeGreaterThanOrEqual(0);
  expect(order.indexOf("other")).toBeLessThan(10);
});

test("a full queue refuses at once and says that it will pass", async () => {
  const pool = await start({ concurrency: 1, maxWorkers: 2, maxQueue: 4, maxQueuePerCaller: 4 });
  const runs = Array.from({ length: 10 }, () => pool.run({ source: QUICK }));
  const outcomes = await Promise.allSettled(runs);
  const refused = outcomes.filter((outcome) => outcome.status === "rejected");
  expect(refused.length).toBeGreaterThanOrEqual(4);
  expect(refused[0]?.reason).toMatchObject({
    code: "sandbox_overloaded",
    retryable: true,
    blame: "us",
    details: { limit: 4 },
  });
  expect(await pool.run({ source: QUICK })).toMatchObject({ ok: true });
});

test("a run of a group that kills its child takes none of the others with it", async () => {
  const pool = await start({ concurrency: 1 });
  const sources = Array.from({ length: 16 }, (_, at) => (at === 5 ? "'x'.repeat(2 ** 28).split('')" : QUICK));
  const limits = { timeoutMs: 60_000 };
  const results = await Promise.all(sources.map((source) => pool.run({ source, group: "g", limits })));
  expect(results.map((result) => result.ok)).toEqual(sources.map((source) => source === QUICK));
  expect(results[5]).toMatchObject({
    error: { kind: "memory", message: "syntax error, RAM exceeded, or other error" },
  });
});

test("a first run starts a spare; a killed child is replaced, and the spare takes the next run meanwhile", async () => {
  const pool = await start({ concurrency: 1 });
  expect(pool.stats()).toMatchObject({ workers: 1, started: 1 });
  expect(await pool.run({ source: QUICK })).toMatchObject({ ok: true });
  await vi.waitFor(() => expect(pool.stats()).toMatchObject({ workers: 2, idle: 2 }), { interval: 5 });
  const before = pool.stats().started;
  expect(await pool.run({ source: "for (;;) {}", limits: { timeoutMs: 50 } })).toMatchObject({
    error: { kind: "timeout" },
  });
  expect(await pool.run({ source: QUICK })).toMatchObject({ ok: true });
  expect(pool.stats()).toMatchObject({ workers: 2, started: before + 1 });
});

test("closing kills every child and rejects what runs and waits", async () => {
  const pool = await start({ concurrency: 1 });
  const runs = Array.from({ length: 3 }, () => pool.run({ source: "for (;;) {}" }));
  const outcomes = Promise.allSettled(runs);
  await isBusy(pool);
  await pool.close();
  expect(
    (await outcomes).map((outcome) => (outcome as PromiseRejectedResult).reason as { code: string }),
  ).toMatchObject(Array.from({ length: 3 }, () => ({ code: "sandbox_closed" })));
  expect(pool.stats().workers).toBe(0);
});

test("aborting one run of a group leaves the others theirs", async () => {
  const pool = await start({ concurrency: 1 });
  const controllers = Array.from({ length: 6 }, () => new AbortController());
  const runs = controllers.map(({ signal }, at) =>
    pool.run({ ...(at === 0 ? ENDLESS : { source: QUICK }), group: "g", signal }),
  );
  const outcomes = Promise.allSettled(runs);
  await isBusy(pool);
  for (const at of [0, 2, 5]) controllers[at]?.abort();
  const seen = (await outcomes).map((one) =>
    one.status === "fulfilled" ? one.value.ok : (one.reason as { code: string }).code,
  );
  expect(seen).toEqual(["run_aborted", true, "run_aborted", true, true, "run_aborted"]);
  const late = pool.run({ source: QUICK, signal: AbortSignal.abort() });
  await expect(late).rejects.toMatchObject({ code: "run_aborted" });
});
