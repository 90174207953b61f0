import type { Logger } from "pino";
import { collectDefaultMetrics, Registry } from "prom-client";
import type { SandboxPool } from "../../../sandbox/index.ts";
import { registerNetworkMetrics } from "../../requests/observe/networkMetrics.ts";
import { createRequestObserver, registerOpenRequests } from "../../requests/observe/requestMetrics.ts";
import { registerSandboxMetrics } from "../../requests/observe/sandboxMetrics.ts";
import {
  createTransactionObserver,
  type MinedTransaction,
} from "../../requests/observe/transactionMetrics.ts";
import type { RequestBook, RequestObserver } from "../../requests/requestBook.ts";
import type { ServiceNetwork } from "../../requests/serviceNetwork.ts";

/** The metrics of the whole process, and the callbacks that feed them. */
interface Metrics {
  readonly registry: Registry;
  readonly onRequest: RequestObserver;
  readonly onTransaction: (transaction: MinedTransaction) => void;
  /** Adds metrics that are read from the book and the networks on demand. */
  watch(book: RequestBook, networks: ReadonlyMap<string, ServiceNetwork>): void;
}

/**
 * Creates a process's metrics: its own (`process_`, `nodejs_`), the sandbox's, and those of requests and transactions.
 */
export function createMetrics(options: { readonly pool: SandboxPool; readonly log: Logger }): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  registerSandboxMetrics(registry, options.pool);
  return {
    registry,
    onRequest: createRequestObserver({ registry, log: options.log }),
    onTransaction: createTransactionObserver(registry),
    watch(book, networks) {
      registerOpenRequests(registry, book, networks.keys());
      registerNetworkMetrics(registry, networks);
    },
  };
}
