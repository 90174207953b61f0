import { Counter, Gauge, type Registry } from "prom-client";
import type { SandboxPool } from "../../../sandbox/index.ts";

/** Registers the metrics of the sandbox's pool, read at each scrape. */
export function registerSandboxMetrics(
  registry: Registry,
  pool: Pick<SandboxPool, "stats" | "status">,
): void {
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number): void => {
    const metric: Gauge = new Gauge({ name, help, registers, collect: () => metric.set(read()) });
  };
  gauge("tyche_sandbox_ready", "Whether sources can be run, 1 or 0.", () => Number(pool.status().isReady));
  gauge("tyche_sandbox_workers", "Child processes of the sandbox.", () => pool.stats().workers);
  gauge("tyche_sandbox_runs_busy", "Runs that child processes have taken.", () => pool.stats().busy);
  gauge("tyche_sandbox_runs_queued", "Runs that wait for a child process.", () => pool.stats().queued);

  // The pool keeps counts of its own, which are copied as they are.
  const runs: Counter = new Counter({
    name: "tyche_sandbox_runs_total",
    help: "Runs that have ended, whatever came of them.",
    registers,
    collect() {
      runs.reset();
      runs.inc(pool.stats().runs);
    },
  });
  const started: Counter = new Counter({
    name: "tyche_sandbox_workers_started_total",
    help: "Child processes started.",
    registers,
    collect() {
      started.reset();
      started.inc(pool.stats().started);
    },
  });
  const killed: Counter<"reason"> = new Counter({
    name: "tyche_sandbox_workers_killed_total",
    help: "Child processes that ended or were ended, by reason.",
    labelNames: ["reason"],
    registers,
    collect() {
      killed.reset();
      for (const [reason, count] of Object.entries(pool.stats().killed)) killed.inc({ reason }, count);
    },
  });
}
