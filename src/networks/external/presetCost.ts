import { CALL_GAS } from "../../chainlink/callGas.ts";
import { askContract } from "../../chainlink/contractRead.ts";
import { COORDINATOR_READS, LINK_PRICE } from "../../chainlink/vrfCoordinator.ts";
import type { ChainClient } from "../../evm/client.ts";
import type { ContractsFile } from "./contractsFile.ts";

/** One LINK, in juels. */
const LINK = 10n ** 18n;

/** Returns the gas of one preset that isn't batched with others: request, proofs and report together. */
export function gasPerPreset(vrfKeys: number): bigint {
  // Measured: 492,085 with two keys, 851,397 with four.
  return vrfKeys === 1 ? CALL_GAS["a coinflip alone"] : 133_000n + 180_000n * BigInt(vrfKeys);
}

/** Reads what one preset costs a dapp's subscriptions, in juels, and LINK's price in the chain's coin, in wei. */
export async function readPresetLink(
  client: Pick<ChainClient, "call">,
  { contracts, nativePayment = false }: Pick<ContractsFile, "contracts" | "nativePayment">,
  {
    gasPriceWei,
    presetVrfKeys = 1,
  }: { readonly gasPriceWei: bigint; readonly presetVrfKeys?: number | undefined },
): Promise<{ readonly juels: bigint; readonly weiPerLink: bigint }> {
  const weiPerLink = await askContract(client, contracts.nativePriceFeed, LINK_PRICE);
  const vrfFees = COORDINATOR_READS[contracts.vrfVersion ?? "v2"].fees();
  const { link } = await askContract(client, contracts.vrfCoordinator, vrfFees);
  const gasWei = gasPerPreset(presetVrfKeys) * gasPriceWei;
  if (nativePayment) return { juels: (gasWei * LINK) / weiPerLink, weiPerLink };
  const perProof = (link.flatWei * LINK) / weiPerLink + link.flatJuels;
  const juels =
    (((gasWei * (100n + link.percent)) / 100n) * LINK) / weiPerLink + perProof * BigInt(presetVrfKeys);
  return { juels, weiPerLink };
}
