import { encodeFunctionData, formatGwei, type Hex } from "viem";
import { fixedPriceFeedAbi } from "../../chainlink/contracts/abi.ts";
import type { StackAddresses } from "../../chainlink/stackPlan.ts";
import { COORDINATOR_READS } from "../../chainlink/vrfCoordinator.ts";
import type { ChainClient } from "../../evm/client.ts";
import { PriceAboveCapError, quote, type Fees } from "../../evm/fees.ts";
import type { NetworkProfile } from "../profiles.ts";
import type { Tell } from "./finding.ts";
import type { ContractsFile } from "./contractsFile.ts";
import { readLinkBalance } from "./fundNetwork.ts";
import { roundAmount } from "./roundAmount.ts";
import { decodeCallResult } from "../../lib/callResult.ts";

/** Gas of one preset that isn't batched with others: request, proof and report together. */
const GAS_PER_PRESET = 600_000n;
/** Number of presets that an account should be able to pay for. */
const ENOUGH_PRESETS = 100n;
/** One LINK, in juels. */
const LINK = 10n ** 18n;

/** Checks what things cost on a network and whether there are funds to pay for them. */
export interface Funds {
  /** Checks the gas price against the operator's cap. */
  checkGasPrice(this: void): Promise<void>;
  /** Checks the gas price against the highest one at which a coordinator accepts proofs; reports nothing when it has no limit. */
  checkLane(maxGasWei: bigint | undefined): Promise<void>;
  /** Checks an account's balance, and how many presets it lasts for. */
  checkCoin(what: string, address: Hex): Promise<void>;
  /** Checks the balance of the reserve for dapps' subscriptions, and how many presets it lasts for. */
  checkLink(file: Pick<ContractsFile, "contracts" | "nativePayment">): Promise<void>;
}

/** Creates the checks of prices and funds on one network. */
export function createFundsCheck(options: {
  readonly profile: Pick<NetworkProfile, "name" | "coin">;
  readonly client: ChainClient;
  readonly fees: Fees;
  readonly tell: Tell;
}): Funds {
  const { client, fees, tell } = options;
  const { name, coin } = options.profile;

  /** Returns what one preset costs a dapp's subscriptions, in juels. */
  const readPresetCost = async (
    contracts: StackAddresses,
    nativePayment: boolean,
    gasPriceWei: bigint,
  ): Promise<bigint> => {
    const feed = { abi: fixedPriceFeedAbi, functionName: "latestRoundData" } as const;
    const answer = await client.call({ to: contracts.nativePriceFeed, data: encodeFunctionData(feed) });
    const [, weiPerLink] = decodeCallResult({ ...feed, data: answer });
    const read = COORDINATOR_READS[contracts.vrfVersion ?? "v2"].fees();
    const { link } = read.decode(await client.call({ to: contracts.vrfCoordinator, data: read.data }));
    const gasWei = GAS_PER_PRESET * gasPriceWei;
    if (nativePayment) return (gasWei * LINK) / weiPerLink;
    return (((gasWei * (100n + link.percent)) / 100n + link.flatWei) * LINK) / weiPerLink + link.flatJuels;
  };

  return {
    async checkGasPrice() {
      try {
        await quote(fees, client);
        const cap =
          fees.maxFeeWei === undefined ? "" : `; at most ${formatGwei(fees.maxFeeWei)} gwei are paid`;
        tell(true, `gas costs ${formatGwei(await fees.gasPriceWei(client))} gwei${cap}`);
      } catch (error) {
        if (!(error instanceof PriceAboveCapError)) throw error;
        const [price, cap] = [error.priceWei, error.capWei].map((wei) => formatGwei(wei));
        tell(
          false,
          `gas costs ${price} gwei, and at most ${cap} gwei are paid`,
          "requests wait until the price falls; raise maxFeeGwei to send them now",
        );
      }
    },

    async checkLane(maxGasWei) {
      if (maxGasWei === undefined) return;
      const priceWei = await fees.gasPriceWei(client);
      tell(
        priceWei <= maxGasWei,
        `the gas lane takes proofs up to ${formatGwei(maxGasWei)} gwei`,
        `gas costs ${formatGwei(priceWei)} gwei: random words wait until it is cheaper`,
      );
    },

    async checkCoin(what, address) {
      const priceWei = await fees.gasPriceWei(client);
      const balanceWei = await client.getBalanceWei(address);
      const presets = priceWei === 0n ? ENOUGH_PRESETS : balanceWei / (GAS_PER_PRESET * priceWei);
      tell(
        presets >= ENOUGH_PRESETS,
        `${what} ${address} holds ${roundAmount(balanceWei)} ${coin}, enough for about ${presets} presets`,
        `send it ${coin}, or run \`tyche network fund ${name} --coin AMOUNT\` for the oracle's`,
      );
    },

    async checkLink({ contracts, nativePayment = false }) {
      const juels = await readLinkBalance(client, contracts.link, contracts.subscriptionOwner);
      const perPreset = await readPresetCost(contracts, nativePayment, await fees.gasPriceWei(client));
      const presets = perPreset === 0n ? ENOUGH_PRESETS : juels / perPreset;
      // Most of the LINK is in the subscriptions; the reserve that tops them up may be small.
      tell(
        presets > 0n,
        `the reserve for dapps' subscriptions holds ${roundAmount(juels)} LINK, enough for about ${presets} presets${nativePayment ? "; random words are paid for in coin" : ""}`,
        `run \`tyche network fund ${name} --link AMOUNT\``,
      );
    },
  };
}
