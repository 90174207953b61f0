import type { Hex } from "viem";
import type { ChainClient } from "../evm/client.ts";
import { repeat } from "../lib/repeat.ts";
import type { OracleLog } from "./log.ts";
import type { OracleAccount } from "./status.ts";

const BALANCE_INTERVAL_MS = 30_000;

export interface BalanceOptions {
  /** Name of the network, for the log. */
  readonly name: string;
  readonly client: Pick<ChainClient, "getBalanceWei">;
  readonly accounts: readonly Omit<OracleAccount, "balanceWei">[];
  readonly log: OracleLog;
  readonly signal: AbortSignal;
}

/** Reads the balances of accounts every 30 seconds; returns a function that gives the latest ones. */
export function watchBalances(options: BalanceOptions): () => OracleAccount[] {
  const { name, client, accounts, log, signal } = options;
  const balances = new Map<Hex, bigint>();
  const read = async (): Promise<void> => {
    try {
      await Promise.all(
        accounts.map(async ({ address }) => balances.set(address, await client.getBalanceWei(address))),
      );
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error, network: name }, "oracle: balances can't be read");
    }
  };
  // `read` never rejects.
  const stop = repeat(read, BALANCE_INTERVAL_MS, () => {}, { startsNow: true });
  signal.addEventListener("abort", stop, { once: true });
  return () => accounts.map((account) => ({ ...account, balanceWei: balances.get(account.address) }));
}
