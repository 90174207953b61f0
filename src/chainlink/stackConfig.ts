/**
 * Settings of the oracle contracts that Tyche deploys: the limits of the public networks, and fees of the same order. The
 * current settings of the public contracts can only be read from their chains.
 */
import { MAX_CONSUMERS, MAX_VRF_CALLBACK_GAS } from "./limits.ts";

/** Answer of a price feed and the number of its decimals. */
interface Price {
  readonly answer: bigint;
  readonly decimals: number;
}

/** LINK in the chain's coin: 0.005. */
export const LINK_NATIVE_PRICE_WEI: Price = { answer: 5n * 10n ** 15n, decimals: 18 };
/** LINK in US dollars: 15. */
export const LINK_USD_PRICE: Price = { answer: 15n * 10n ** 8n, decimals: 8 };

const FEED_STALENESS_SECONDS = 86_400;
/** Gas of the coordinator's bookkeeping after it has measured the gas it charges for. */
const GAS_AFTER_PAYMENT_CALCULATION = 33_825;

/** Returns the arguments of VRFCoordinatorV2.setConfig: the same fee in every tier. */
export function vrfConfigOf(options: {
  readonly minConfirmations: number;
  /** Millionths of LINK. */
  readonly premiumLinkPpm: number;
}) {
  const fee = options.premiumLinkPpm;
  return [
    options.minConfirmations,
    MAX_VRF_CALLBACK_GAS,
    FEED_STALENESS_SECONDS,
    GAS_AFTER_PAYMENT_CALCULATION,
    LINK_NATIVE_PRICE_WEI.answer,
    {
      fulfillmentFlatFeeLinkPPMTier1: fee,
      fulfillmentFlatFeeLinkPPMTier2: fee,
      fulfillmentFlatFeeLinkPPMTier3: fee,
      fulfillmentFlatFeeLinkPPMTier4: fee,
      fulfillmentFlatFeeLinkPPMTier5: fee,
      reqsForTier2: 0,
      reqsForTier3: 0,
      reqsForTier4: 0,
      reqsForTier5: 0,
    },
  ] as const;
}

/** Highest gas price at which VRF v2.5 accepts proofs of our own key, unless the plan says otherwise: 1,000 gwei. */
export const LANE_MAX_GAS_WEI = 1_000_000_000_000n;
/** Premium on the gas, in percent, as on Ethereum's public coordinator. */
const NATIVE_PREMIUM_PERCENT = 24;
const LINK_PREMIUM_PERCENT = 20;

/**
 * Returns the arguments of VRFCoordinatorV2_5.setConfig: the same flat fee as in V2, at the fixed price of LINK, and a
 * premium on the gas.
 */
export function vrfV2PlusConfigOf(options: Parameters<typeof vrfConfigOf>[0]) {
  const flatFeePpm = Number((BigInt(options.premiumLinkPpm) * LINK_NATIVE_PRICE_WEI.answer) / 10n ** 18n);
  return [
    options.minConfirmations,
    MAX_VRF_CALLBACK_GAS,
    FEED_STALENESS_SECONDS,
    GAS_AFTER_PAYMENT_CALCULATION,
    LINK_NATIVE_PRICE_WEI.answer,
    flatFeePpm,
    0,
    NATIVE_PREMIUM_PERCENT,
    LINK_PREMIUM_PERCENT,
  ] as const;
}

/** FunctionsRouter's configuration. */
export const FUNCTIONS_ROUTER_CONFIG = {
  maxConsumersPerSubscription: MAX_CONSUMERS,
  adminFee: 0n,
  /** handleOracleFulfillment(bytes32,bytes,bytes) */
  handleOracleFulfillmentSelector: "0x0ca76175",
  gasForCallExactCheck: 5_000,
  /** Indexed by a subscription's flag, 0 unless the router's owner sets another. */
  maxCallbackGasLimits: [300_000, 500_000, 1_000_000],
  subscriptionDepositMinimumRequests: 0,
  subscriptionDepositJuels: 0n,
} as const;

/**
 * FunctionsCoordinator's billing. A request reserves its cost at 1.4 times its own gas price, and at 1.4 gwei or more, so a
 * report at up to 1.4 gwei never fails with COST_EXCEEDS_COMMITMENT, whatever gas price the request paid.
 */
export const FUNCTIONS_BILLING = {
  fulfillmentGasPriceOverEstimationBP: 4_000,
  feedStalenessSeconds: FEED_STALENESS_SECONDS,
  gasOverheadBeforeCallback: 105_000,
  gasOverheadAfterCallback: 50_000,
  minimumEstimateGasPriceWei: 1_000_000_000,
  maxSupportedRequestDataVersion: 1,
  fallbackUsdPerUnitLink: LINK_USD_PRICE.answer,
  fallbackUsdPerUnitLinkDecimals: LINK_USD_PRICE.decimals,
  fallbackNativePerUnitLink: LINK_NATIVE_PRICE_WEI.answer,
  requestTimeoutSeconds: 300,
  donFeeCentsUsd: 0,
  operationFeeCentsUsd: 0,
} as const;
