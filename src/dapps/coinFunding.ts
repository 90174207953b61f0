import { encodeFunctionData } from "viem";
import { vrfCoordinatorV2PlusAbi } from "../chainlink/contracts/abi.ts";
import type { StackAddresses } from "../chainlink/stackPlan.ts";
import type { ChainClient } from "../evm/client.ts";
import type { Sender } from "../evm/sender.ts";
import { parseQuantity } from "../lib/nodeAnswers.ts";
import { ChainUnavailableError } from "../networks/chainUnavailable.ts";
import type { Payload } from "../store/transactionContents.ts";
import type { DailyBudget } from "./dailyBudget.ts";
import { CoinShortageError } from "./shortage.ts";

/** Gas limit for VRFCoordinatorV2_5 `fundSubscriptionWithNative`, twice what it uses. */
const FUND_GAS = 120_000n;
/** Gas that the operator must still be able to pay for after giving coin away: a few hundred requests of its own. */
const KEPT_GAS = 30_000_000n;
/** Divisor of the allowance: a subscription with less than this part may be unable to pay for everything sent at once. */
const LOW_PART = 4n;

/** Funds subscriptions whose random words are paid for in coin. */
export interface CoinFunding {
  /**
   * Refills a subscription to its allowance if it has fallen below half of it.
   *
   * @param dappId the dapp whose budget the coin counts against. Default: it counts against none.
   * @throws {CoinShortageError} when the operator has too little to give.
   * @throws {BudgetSpentError} when nothing is left of the budget.
   */
  fill(vrfSubscriptionId: bigint, heldWei: bigint, dappId?: string): Promise<void>;
  /** Whether a balance is so low that it may not cover everything sent at once. */
  isLow(heldWei: bigint): boolean;
}

/** Creates the funding of one network's subscriptions, from the sender's own account. */
export function createCoinFunding(options: {
  readonly network: string;
  readonly client: Pick<ChainClient, "getBalanceWei" | "request">;
  readonly sender: Sender<Payload>;
  readonly contracts: Pick<StackAddresses, "vrfCoordinator">;
  /** Symbol of the coin, for messages. */
  readonly symbol: string;
  /** 0: words are paid for in LINK. */
  readonly allowanceWei: bigint;
  readonly budget: Pick<DailyBudget, "allow">;
}): CoinFunding {
  const { network, client, sender, contracts, symbol, allowanceWei, budget } = options;
  return {
    isLow: (heldWei) => heldWei < allowanceWei / LOW_PART,
    async fill(vrfSubscriptionId, heldWei, dappId) {
      if (heldWei >= allowanceWei / 2n) return;
      const missingWei = allowanceWei - heldWei;
      const valueWei = dappId === undefined ? missingWei : await budget.allow(dappId, "wei", missingWei);
      const keptWei = KEPT_GAS * parseQuantity(await client.request("eth_gasPrice"), "gas price");
      const holdsWei = await client.getBalanceWei(sender.address);
      if (holdsWei < valueWei + keptWei)
        throw new CoinShortageError({
          network,
          operator: sender.address,
          symbol,
          neededWei: valueWei + keptWei,
          heldWei: holdsWei,
        });
      const fund = { abi: vrfCoordinatorV2PlusAbi, functionName: "fundSubscriptionWithNative" } as const;
      const data = encodeFunctionData({ ...fund, args: [vrfSubscriptionId] });
      const receipt = await sender.send(
        { to: contracts.vrfCoordinator, data, gas: FUND_GAS, valueWei },
        {
          kind: "upkeep",
          entries: [],
          ...(dappId !== undefined && { topUp: { dappId, juels: "0", wei: String(valueWei) } }),
        },
      );
      if (!receipt.succeeded)
        throw new ChainUnavailableError(network, "sending coin to a dapp's subscription reverted");
    },
  };
}
