import { formatEther } from "viem";
import { RateLimitedError } from "../lib/rateLimit.ts";
import type { Queryable } from "../store/queryable.ts";
import { dayOf, listToppedUp, type ToppedUp } from "../store/usage.ts";

/** What a dapp's subscriptions on one network may be topped up with on a day (UTC), in juels and wei. Default: no limit. */
export interface BudgetLimits {
  readonly juels?: bigint | undefined;
  readonly wei?: bigint | undefined;
}

/**
 * The dapps' daily budgets on one network. Anyone who has linked a contract can spend a dapp's subscriptions on chain, past every limit on
 * calls, so the budget counts what the subscriptions receive. It starts with what they hold: their first allowance isn't part of it.
 */
export interface DailyBudget {
  /**
   * Returns an amount that a dapp's subscriptions should be topped up with, or what is left of its budget today if that is less.
   *
   * @throws {BudgetSpentError} when nothing is left.
   */
  allow(dappId: string, unit: keyof BudgetLimits, amount: bigint): Promise<bigint>;
  /** Returns which part of a dapp's budget is used up today. */
  findSpent(dappId: string): Promise<BudgetSpentError | undefined>;
  /** Returns the ids of the dapps whose budget is used up today. */
  listSpent(): Promise<readonly string[]>;
}

const UNITS = ["juels", "wei"] as const;

/** Creates the budgets of one network's dapps. They are counted in the store, so they survive a restart and hold for all replicas. */
export function createDailyBudget(options: {
  readonly network: string;
  readonly db: Queryable;
  readonly limits: BudgetLimits;
  /** Symbol of the network's coin, for messages. */
  readonly coin: string;
}): DailyBudget {
  const { network, db, limits, coin } = options;
  const hasLimit = UNITS.some((unit) => limits[unit] !== undefined);
  const read = async (dappId?: string): Promise<readonly ToppedUp[]> =>
    hasLimit ? await listToppedUp(db, { network, day: dayOf(Date.now()), dappId }) : [];
  const findSpentIn = (toppedUp: ToppedUp | undefined): BudgetSpentError | undefined => {
    for (const unit of UNITS) {
      const limit = limits[unit];
      if (limit !== undefined && limit <= (toppedUp?.[unit] ?? 0n))
        return new BudgetSpentError({ network, limit, symbol: unit === "wei" ? coin : "LINK" });
    }
    return undefined;
  };
  return {
    async allow(dappId, unit, amount) {
      const limit = limits[unit];
      if (limit === undefined) return amount;
      const [toppedUp] = await read(dappId);
      const left = limit - (toppedUp?.[unit] ?? 0n);
      if (left <= 0n) throw findSpentIn(toppedUp)!;
      return amount < left ? amount : left;
    },
    findSpent: async (dappId) => (hasLimit ? findSpentIn((await read(dappId))[0]) : undefined),
    listSpent: async () =>
      (await read()).filter((one) => findSpentIn(one) !== undefined).map(({ dappId }) => dappId),
  };
}

/** A dapp's subscriptions are topped up again on the next day only. */
export class BudgetSpentError extends RateLimitedError {
  constructor({
    network,
    limit,
    symbol,
  }: {
    readonly network: string;
    readonly limit: bigint;
    readonly symbol: string;
  }) {
    super(
      `the dapp's daily budget on ${network}, ${formatEther(limit)} ${symbol}, is used up, by its requests or by its own contracts; its subscriptions are topped up again after 00:00 UTC, or when the operator raises the budget`,
    );
  }
}
