import { Counter, Histogram, type Registry } from "prom-client";
import type { Receipt } from "../../lib/nodeAnswers.ts";

/** A mined transaction of the service or its oracle. */
export interface MinedTransaction {
  readonly network: string;
  /**
   * `submit` brings requests on chain, `consumer` links or unlinks a contract, `upkeep` creates and funds subscriptions,
   * stores sources and times out function requests; `words` are the VRF node's fulfilments, `report` the oracle network's
   * reports.
   */
  readonly purpose: "submit" | "consumer" | "upkeep" | "words" | "report";
  /** Number of requests that it carries. */
  readonly requests: number;
  readonly receipt: Pick<Receipt, "gasUsed" | "succeeded">;
}

/** Registers the transaction metrics and returns the observer of mined transactions. */
export function createTransactionObserver(registry: Registry): (transaction: MinedTransaction) => void {
  const registers = [registry];
  const labelNames = ["network", "purpose"] as const;
  const transactions = new Counter({
    name: "tyche_transactions_total",
    help: "Transactions mined, by purpose and by whether they succeeded or reverted.",
    labelNames: [...labelNames, "status"],
    registers,
  });
  const gas = new Counter({
    name: "tyche_transaction_gas_total",
    help: "Gas that mined transactions used, by purpose.",
    labelNames,
    registers,
  });
  const requests = new Histogram({
    name: "tyche_transaction_requests",
    help: "Requests per transaction: sizes of batches of requests, words and reports.",
    labelNames,
    buckets: [1, 2, 4, 7, 10, 14, 20, 30, 45, 60],
    registers,
  });
  return ({ network, purpose, requests: count, receipt }) => {
    transactions.inc({ network, purpose, status: receipt.succeeded ? "succeeded" : "reverted" });
    gas.inc({ network, purpose }, Number(receipt.gasUsed));
    if (count > 0) requests.observe({ network, purpose }, count);
  };
}
