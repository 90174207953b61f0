import type { Logger } from "pino";
import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { SandboxPool } from "../../../sandbox/index.ts";
import { registerNetworkMetrics } from "../../requests/observe/networkMetrics.ts";
import { createRequestObserver, registerOpenRequests } from "../../requests/observe/requestMetrics.ts";
import { registerSandboxMetrics } from "../../requests/observe/sandboxMetrics.ts";
import { createTransactionObserver } from "../../requests/observe/transactionMetrics.ts";
import type { RequestBook } from "../../requests/requestBook.ts";
import type { ServiceNetwork } from "../../requests/serviceNetwork.ts";

/**
 * Creates a process's metrics: its own (`process_`, `nodejs_`), the sandbox's, and those of requests and transactions, with the
 * callbacks that feed them.
 */
export function createMetrics(options: {
  readonly pool: SandboxPool;
  readonly log: Logger;
  /** Returns when `tyche backup` last succeeded or else the data directory was made, in seconds since 1970; absent where it isn't what backs up the database. */
  readonly lastBackup?: (() => number) | undefined;
}) {
  const { lastBackup } = options;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  registerSandboxMetrics(registry, options.pool);
  if (lastBackup !== undefined) {
    const gauge: Gauge = new Gauge({
      name: "tyche_last_backup_timestamp_seconds",
      help: "Time of the last backup by tyche backup, in seconds since 1970; that of the data directory if there was none.",
      registers: [registry],
      collect: () => gauge.set(lastBackup()),
    });
  }
  return {
    registry,
    onRequest: createRequestObserver({ registry, log: options.log }),
    onTransaction: createTransactionObserver(registry),
    /** Adds metrics that are read from the book and the networks on demand. */
    watch(book: RequestBook, networks: ReadonlyMap<string, ServiceNetwork>): void {
      registerOpenRequests(registry, book, networks.keys());
      registerNetworkMetrics(registry, networks);
    },
  };
}
