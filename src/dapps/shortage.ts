import { formatEther, type Hex } from "viem";
import { TycheError } from "../lib/errors.ts";
import { BudgetSpentError } from "./dailyBudget.ts";

/**
 * The reserve that dapps' subscriptions are created and topped up from holds too little LINK. Whatever needs it waits until LINK is sent
 * there.
 */
export class LinkShortageError extends TycheError {
  constructor(options: {
    readonly network: string;
    /** Contract that holds the reserve. */
    readonly reserve: Hex;
    readonly purpose: string;
    readonly neededJuels: bigint;
    readonly heldJuels: bigint;
  }) {
    const { network, reserve, purpose, neededJuels, heldJuels } = options;
    const [missing, held, needed] = [neededJuels - heldJuels, heldJuels, neededJuels].map((juels) =>
      formatEther(juels),
    );
    super(
      `the LINK reserve ${reserve} of ${network} is short by ${missing} LINK: it holds ${held}, and ${purpose} takes ${needed}; waiting for LINK to be sent there`,
      {
        code: "chain_unavailable",
        blame: "upstream",
        retryable: true,
        details: { missingJuels: (neededJuels - heldJuels).toString() },
      },
    );
  }
}

/** The operator holds too little coin for a subscription that pays with it. Whatever needs it waits until coin is sent there. */
export class CoinShortageError extends TycheError {
  constructor(options: {
    readonly network: string;
    readonly operator: Hex;
    /** Symbol of the coin. */
    readonly symbol: string;
    readonly neededWei: bigint;
    readonly heldWei: bigint;
  }) {
    const { network, operator, symbol, neededWei, heldWei } = options;
    const [missing, held, needed] = [neededWei - heldWei, heldWei, neededWei].map((wei) => formatEther(wei));
    super(
      `the operator ${operator} of ${network} is short by ${missing} ${symbol}: it holds ${held}, and topping up a dapp's subscription takes ${needed}; waiting for ${symbol} to be sent there`,
      { code: "chain_unavailable", blame: "upstream", retryable: true },
    );
  }
}

/** Whether only LINK, coin or the next day's budget is missing: whatever waits for it continues by itself. */
export function isShortage(
  error: unknown,
): error is LinkShortageError | CoinShortageError | BudgetSpentError {
  return (
    error instanceof LinkShortageError ||
    error instanceof CoinShortageError ||
    error instanceof BudgetSpentError
  );
}
