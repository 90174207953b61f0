import type { GasRules } from "./profile.ts";

const GWEI = 10n ** 9n;
/** The rules of geth's pool (`PriceBump`) and most others. */
export const USUAL_GAS: GasRules = { minTipWei: 0n, replacementPercent: 10 };
/** Polygon's nodes refuse lower tips and smaller replacements. */
export const POLYGON_GAS: GasRules = { minTipWei: 25n * GWEI, replacementPercent: 20 };
export const AVALANCHE_GAS: GasRules = { minTipWei: GWEI, replacementPercent: 10 };
