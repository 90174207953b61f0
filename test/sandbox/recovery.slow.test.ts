import type { ChildProcess } from "node:child_process";
import { spawnSync } from "node:child_process";
import { closeSync, openSync, readdirSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { buildChild } from "../../sandbox/build/buildChild.ts";
import { createChildLauncher, layersOf } from "../../sandbox/host/launch.ts";
import { createPool } from "../../sandbox/host/pool.ts";
import type { SandboxPool } from "../../sandbox/index.ts";

const launcher = createChildLauncher();
const layers = layersOf(launcher.containment);
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** Creates a pool of real children; `onLaunch` gets each of them, `asked` resolves when a source makes its host call. */
function start(
  options: { readonly onLaunch?: (child: ChildProcess) => void; readonly build?: () => Promise<string> } = {},
) {
  const warnings: string[] = [];
  const children: ChildProcess[] = [];
  let asked = Promise.withResolvers<void>();
  const pool: SandboxPool = createPool(
    {
      concurrency: 1,
      onWarning: (message) => warnings.push(message),
      hostCalls: {
        import: () => {
          asked.resolve();
          asked = Promise.withResolvers<void>();
          return new Promise(() => {});
        },
      },
    },
    {
      launcher: {
        ...launcher,
        launch: (script) => {
          const child = launcher.launch(script);
          children.push(child);
          options.onLaunch?.(child);
          return child;
        },
      },
      build: options.build ?? buildChild,
    },
  );
  closers.push(() => pool.close());
  return { pool, warnings, children, asked: () => asked.promise };
}

const QUICK = { source: "return Functions.encodeString('served')" };
const served = (pool: SandboxPool) =>
  pool.run(QUICK).then(
    ({ ok }) => ok,
    ({ code }: { code: string }) => code,
  );
const recovers = async (pool: SandboxPool) => {
  await vi.waitFor(() => expect(pool.status()).toEqual({ isReady: true, layers }), { interval: 50 });
  expect(await served(pool)).toBe(true);
};

test("runs that wait behind one that ran out of time have an outcome of their own", async () => {
  const { pool } = start();
  const run = () =>
    pool.run({ source: "for (;;);", group: "nodes", caller: "nodes", limits: { timeoutMs: 100 } });
  const results = await Promise.all([run(), run(), run(), run()]);
  expect(results.map((result) => !result.ok && result.error.kind)).toEqual(Array(4).fill("timeout"));
});

test("children that are killed before they are ready: runs are refused, the cause is told, and it recovers", async () => {
  let isKilling = true;
  const { pool, warnings } = start({ onLaunch: (child) => isKilling && child.kill("SIGKILL") });
  expect(pool.status()).toEqual({ isReady: false, layers, why: "the first sandbox process is starting" });
  const waiting = served(pool);
  await expect(pool.ready()).rejects.toMatchObject({
    code: "sandbox_unavailable",
    retryable: true,
    blame: "us",
  });
  expect(await waiting).toBe("sandbox_unavailable");
  expect(await served(pool)).toBe("sandbox_unavailable");
  expect(pool.status()).toMatchObject({
    isReady: false,
    reason: "signal SIGKILL",
    why: "its processes did not start 3 times in a row (signal SIGKILL); it retries by itself",
    retryMs: 1_000,
  });
  expect(warnings.slice(0, 2)).toEqual([
    "A sandbox process did not start (signal SIGKILL); the next attempt is in 250 ms",
    "A sandbox process did not start (signal SIGKILL); the next attempt is in 500 ms",
  ]);
  isKilling = false;
  await recovers(pool);
  expect(warnings.at(-1)).toBe("Sandbox processes are starting again.");
});

test("children whose code can't be built for a while", async () => {
  let failures = 3;
  const { pool, warnings } = start({
    build: async () => {
      if (failures-- > 0) throw Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });
      return await buildChild();
    },
  });
  await expect(pool.ready()).rejects.toMatchObject({
    details: { reason: "its code could not be built (EMFILE)" },
  });
  await recovers(pool);
  expect(warnings[0]).toBe(
    "A sandbox process did not start (its code could not be built (EMFILE)); the next attempt is in 250 ms: EMFILE: too many open files",
  );
});

test.runIf(process.platform === "linux" && process.getuid?.() === 0)(
  "while this process has no descriptor left, runs are refused, and it recovers",
  async () => {
    const { pool, children } = start();
    await pool.ready();
    const limit = spawnSync("prlimit", [
      "--pid",
      String(process.pid),
      "--nofile",
      "--raw",
      "--noheadings",
      "-o",
      "SOFT",
    ]);
    const soft = limit.stdout.toString().trim();
    const few = readdirSync("/proc/self/fd").length + 40;
    expect(spawnSync("prlimit", ["--pid", String(process.pid), `--nofile=${few}:`]).status).toBe(0);
    closers.push(() => spawnSync("prlimit", ["--pid", String(process.pid), `--nofile=${soft}:`]));
    const taken: number[] = [];
    try {
      for (const child of children) child.kill("SIGKILL");
      // Dead processes release their descriptors one by one.
      await vi.waitFor(
        () => {
          try {
            for (;;) taken.push(openSync("/dev/null", "r"));
          } catch {
            // Full again.
          }
          expect(pool.status()).toMatchObject({ isReady: false, reason: "EMFILE" });
        },
        { interval: 20 },
      );
      expect(await served(pool)).toBe("sandbox_unavailable");
    } finally {
      for (const descriptor of taken) closeSync(descriptor);
    }
    await recovers(pool);
  },
);

test("a run whose child is killed is run again, once; then it may be tried later, and the source is not blamed", async () => {
  const { pool, children, asked } = start();
  await pool.ready();
  const kill = () =>
    children
      .filter((child) => child.exitCode === null && child.signalCode === null)
      .forEach((child) => child.kill("SIGKILL"));
  let began = asked();
  const once = pool.run({
    source: "if (args[0] === 'x') await import('npm:wait'); return Functions.encodeString('done')",
    args: ["x"],
  });
  await began;
  began = asked();
  kill();
  await began;
  kill();
  await expect(once).rejects.toMatchObject({ code: "sandbox_interrupted", blame: "us", retryable: true });
  expect(await served(pool)).toBe(true);
  expect(pool.stats()).toMatchObject({ runs: 1, killed: { killed: expect.any(Number) } });
});

test("a run whose child is stopped for longer than the source may take is run again by another child", async () => {
  const { pool, children, asked } = start();
  await pool.ready();
  const began = asked();
  const run = pool.run({
    source:
      "const m = import('npm:wait'); await new Promise((r) => setTimeout(r, 500)); return new Uint8Array([1])",
    limits: { timeoutMs: 3_000 },
  });
  await began;
  for (const child of children) child.kill("SIGSTOP");
  expect(await run).toMatchObject({ ok: true });
});

test("a killed child's run gives its result when the second child lives", async () => {
  const { pool, children, asked } = start();
  await pool.ready();
  const source =
    "const m = import('npm:wait'); await new Promise((r) => setTimeout(r, 1500)); return Functions.encodeString('done')";
  const began = asked();
  const run = pool.run({ source });
  await began;
  for (const child of children) child.kill("SIGKILL");
  expect(await run).toMatchObject({ ok: true });
});

test.runIf(process.platform === "linux")(
  "a run whose child was stopped for a while is done again, and its time is not told as the source's",
  async () => {
    const { pool, children, asked } = start();
    await pool.ready();
    const waiting = asked();
    const run = pool.run({ source: "await import('npm:never')", limits: { timeoutMs: 3_000 } });
    await waiting;
    const again = asked();
    for (const child of children) child.kill("SIGSTOP");
    // The pool checks more often than this.
    for (let looks = 0; looks < 4; looks += 1) await new Promise((resolve) => setTimeout(resolve, 60));
    for (const child of children) child.kill("SIGCONT");
    await again;
    expect(await run).toMatchObject({ ok: false, error: { kind: "timeout" } });
  },
);
