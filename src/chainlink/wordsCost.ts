/** Gas for checking a proof, on top of the callback: Chainlink's own estimate (`GasProofVerification` of its VRF node). */
const PROOF_GAS = 200_000n;

/** What a coordinator charges for one fulfilment on top of its gas, by currency. */
export interface WordsFees {
  readonly link: PaymentFee;
  readonly native: PaymentFee;
}

export interface PaymentFee {
  /** Surcharge on the cost of the gas, in percent. */
  readonly percent: bigint;
  readonly flatJuels: bigint;
  readonly flatWei: bigint;
}

/** What the price of random words depends on. */
export interface WordsPrices {
  readonly gasPriceWei: bigint;
  /** Price of one LINK, by the coordinator's feed. */
  readonly weiPerLink: bigint;
  readonly fees: WordsFees;
}

/**
 * Estimates what fulfilling a request for random words costs its subscription, in juels, or in wei if it pays natively
 * (`calculatePaymentAmount` of VRFCoordinatorV2, `_calculatePaymentAmount` of VRFCoordinatorV2_5).
 */
export function estimateWordsCost(
  { callbackGasLimit, nativePayment }: { readonly callbackGasLimit: number; readonly nativePayment: boolean },
  { gasPriceWei, weiPerLink, fees }: WordsPrices,
): bigint {
  const { percent, flatWei, flatJuels } = nativePayment ? fees.native : fees.link;
  const gasWei = (BigInt(callbackGasLimit) + PROOF_GAS) * gasPriceWei;
  const wei = (gasWei * (100n + percent)) / 100n + flatWei;
  return nativePayment ? wei : (wei * 10n ** 18n) / weiPerLink + flatJuels;
}

/** Returns the gas price that the oracle counts with, two full blocks' rise above the present one: the proof is mined in a later block. */
export function reservedGasPrice(gasPriceWei: bigint): bigint {
  return (gasPriceWei * 125n) / 100n;
}
