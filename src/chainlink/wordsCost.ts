/** Gas that checking a proof takes beside the callback: Chainlink's own estimate (`GasProofVerification` of its VRF node). */
const PROOF_GAS = 200_000n;

/** What a coordinator charges for one fulfilment beside its gas, by what is paid with. */
export interface WordsFees {
  readonly link: PaymentFee;
  readonly native: PaymentFee;
}

export interface PaymentFee {
  /** Of the gas, on top. */
  readonly percent: bigint;
  readonly flatJuels: bigint;
  readonly flatWei: bigint;
}

/** What the price of random words follows from. */
export interface WordsPrices {
  readonly gasPriceWei: bigint;
  /** What one LINK costs, by the coordinator's feed. */
  readonly weiPerLink: bigint;
  readonly fees: WordsFees;
}

/**
 * Estimates what the fulfilment of a request for random words costs its subscription, in juels, or in wei where it pays natively
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
