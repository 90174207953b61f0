/** Gas that checking a proof takes beside the callback: Chainlink's own estimate (`GasProofVerification` of its VRF node). */
const PROOF_GAS = 200_000n;

/** What the price of random words follows from. */
export interface WordsPrices {
  readonly gasPriceWei: bigint;
  /** What one LINK costs, by the coordinator's feed. */
  readonly weiPerLink: bigint;
  /** Millionths of a LINK that each fulfilment costs on top (`fulfillmentFlatFeeLinkPPMTier1`). */
  readonly flatFeePpm: number;
}

/** Estimates what the fulfilment of a request for random words costs its subscription, in juels (VRFCoordinatorV2 `calculatePaymentAmount`). */
export function estimateWordsCostJuels(
  callbackGasLimit: number,
  { gasPriceWei, weiPerLink, flatFeePpm }: WordsPrices,
): bigint {
  const gas = BigInt(callbackGasLimit) + PROOF_GAS;
  return (gas * gasPriceWei * 10n ** 18n) / weiPerLink + BigInt(flatFeePpm) * 10n ** 12n;
}
