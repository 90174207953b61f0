import { formatGwei } from "viem";
import { TycheError } from "../lib/errors.ts";
import type { ChainClient } from "./client.ts";
import { readMarket } from "./gasMarket.ts";
import type { GasMarket } from "./gasMarket.ts";

/** What a transaction offers for one gas. */
export interface GasPrice {
  /** Most that one gas may cost: `gasPrice` of a legacy transaction, `maxFeePerGas` of EIP-1559. */
  readonly gasPriceWei: bigint;
  /** EIP-1559's `maxPriorityFeePerGas`; absent in a legacy transaction. */
  readonly tipWei?: bigint;
}

/** How a network's transactions are paid. */
export interface Fees {
  /** Returns the price of one gas for a transaction sent now. */
  gasPriceWei(client: ChainClient): Promise<bigint>;
  /**
   * Returns what to sign with. Default: a legacy transaction at {@link Fees.gasPriceWei}.
   *
   * @param capWei most that one gas may cost; absent: whatever it costs.
   * @throws {PriceAboveCapError}
   */
  price?(client: ChainClient, capWei: bigint | undefined): Promise<GasPrice>;
  /** Most that one gas may ever cost. Default: any. */
  readonly maxFeeWei?: bigint;
  /** By how much the price of a replacement is raised, in percent. Default 12.5; most pools ask for 10. */
  readonly replacementPercent?: number;
  /** Time without a receipt after which a transaction is sent again at a higher price. */
  readonly repriceAfterMs: number;
  /** Whether the node answers `eth_sendRawTransactionSync` (EIP-7966): broadcast and receipt in one round trip. */
  readonly synchronous: boolean;
}

/** An embedded chain mines at once: a transaction without a receipt after this was lost with a process that died, and is sent again. */
const LOST_AFTER_MS = 3_000;
const DEFAULT_REPLACEMENT_PERCENT = 12.5;
/** How long a price that was read is good for further transactions: less than a block of most networks. */
const FRESH_MS = 1_000;

/**
 * Returns what to sign with now.
 *
 * @param capWei most that one gas of this transaction may cost, besides the network's own cap.
 * @throws {PriceAboveCapError} when gas costs more.
 */
export async function quote(fees: Fees, client: ChainClient, capWei?: bigint): Promise<GasPrice> {
  const limitWei = lower(fees.maxFeeWei, capWei);
  if (fees.price !== undefined) return await fees.price(client, limitWei);
  const gasPriceWei = await fees.gasPriceWei(client);
  assertPayable(gasPriceWei, limitWei);
  return { gasPriceWei };
}

/**
 * Price of a transaction that takes the place of another one with the same nonce: by a percentage more than that one paid, or than
 * the market's price where that is higher.
 */
export function replacementPriceWei(
  paidWei: bigint,
  marketWei: bigint,
  percent = DEFAULT_REPLACEMENT_PERCENT,
): bigint {
  const base = marketWei > paidWei ? marketWei : paidWei;
  return (base * BigInt(Math.round(1_000 + percent * 10))) / 1_000n + 1n;
}

/** What a replacement offers, of the same kind as what it replaces; `undefined` where the cap leaves too little for pools to take it. */
export function replacementOf(
  fees: Fees,
  paid: GasPrice,
  { market, capWei }: { readonly market: GasPrice | undefined; readonly capWei: bigint | undefined },
): GasPrice | undefined {
  const raise = (paidWei: bigint, marketWei = 0n): bigint =>
    replacementPriceWei(paidWei, marketWei, fees.replacementPercent);
  const limitWei = lower(fees.maxFeeWei, capWei);
  const wantedWei = raise(paid.gasPriceWei, market?.gasPriceWei);
  const isCapped = limitWei !== undefined && wantedWei > limitWei;
  if (isCapped && limitWei < raise(paid.gasPriceWei)) return undefined;
  const gasPriceWei = isCapped ? limitWei : wantedWei;
  if (paid.tipWei === undefined) return { gasPriceWei };
  const tipWei = raise(paid.tipWei, market?.tipWei);
  return { gasPriceWei, tipWei: tipWei < gasPriceWei ? tipWei : gasPriceWei };
}

function assertPayable(priceWei: bigint, capWei: bigint | undefined): void {
  if (capWei !== undefined && priceWei > capWei) throw new PriceAboveCapError(priceWei, capWei);
}

function lower(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a < b ? a : b;
}

/** Fees of a chain with one fixed gas price, as the embedded ones. */
export function fixedFees(gasPriceWei: bigint, options: { readonly synchronous: boolean }): Fees {
  return {
    gasPriceWei: async () => gasPriceWei,
    repriceAfterMs: LOST_AFTER_MS,
    synchronous: options.synchronous,
  };
}

/** Options of {@link suggestedFees}. */
export interface SuggestedFeesOptions {
  /** Time without a receipt after which a transaction is sent again at a higher price. */
  readonly repriceAfterMs: number;
  /** Lowest tip that the network takes. Default 0. */
  readonly minTipWei?: bigint;
  /** Most that one gas may cost. Default: any. */
  readonly maxFeeWei?: bigint;
  /** By how much the price of a replacement is raised, in percent. Default 12.5. */
  readonly replacementPercent?: number;
}

/**
 * Fees as a network's newest blocks show them. Where blocks have a base fee: the median tip of the last ten blocks, and twice the next
 * base fee, which is enough for five full blocks in a row (EIP-1559: an eighth more each). Elsewhere: a legacy price as the node
 * suggests, a tenth on top.
 */
export function suggestedFees(options: SuggestedFeesOptions): Fees {
  const { repriceAfterMs, minTipWei = 0n, maxFeeWei, replacementPercent } = options;
  let last: { readonly market: Promise<GasMarket>; readonly at: number } | undefined;

  const read = (client: ChainClient): Promise<GasMarket> => {
    if (last !== undefined && performance.now() - last.at < FRESH_MS) return last.market;
    const reading = { market: readMarket(client, minTipWei), at: performance.now() };
    last = reading;
    reading.market.catch(() => {
      if (last === reading) last = undefined;
    });
    return reading.market;
  };

  const price = async (client: ChainClient, capWei: bigint | undefined): Promise<GasPrice> => {
    const { baseFeeWei, tipWei } = await read(client);
    if (baseFeeWei === undefined) {
      assertPayable(tipWei, capWei);
      return { gasPriceWei: tipWei };
    }
    // A smaller tip than others pay is slow, and still better than none.
    assertPayable(baseFeeWei + (tipWei < minTipWei ? tipWei : minTipWei), capWei);
    const wantedWei = 2n * baseFeeWei + tipWei;
    const gasPriceWei = capWei !== undefined && wantedWei > capWei ? capWei : wantedWei;
    return { gasPriceWei, tipWei: tipWei < gasPriceWei ? tipWei : gasPriceWei };
  };

  return {
    async gasPriceWei(client) {
      const { baseFeeWei = 0n, tipWei } = await read(client);
      return baseFeeWei + tipWei;
    },
    price,
    ...(maxFeeWei === undefined ? {} : { maxFeeWei }),
    ...(replacementPercent === undefined ? {} : { replacementPercent }),
    repriceAfterMs,
    synchronous: false,
  };
}

/** Gas costs more than may be paid. Whoever sends waits until the price has fallen. */
export class PriceAboveCapError extends TycheError {
  readonly priceWei: bigint;
  readonly capWei: bigint;

  constructor(priceWei: bigint, capWei: bigint) {
    super(
      `gas costs ${formatGwei(priceWei)} gwei, and at most ${formatGwei(capWei)} gwei are paid; waiting for the price to fall`,
      { code: "chain_unavailable", blame: "upstream", retryable: true },
    );
    this.priceWei = priceWei;
    this.capWei = capWei;
  }
}
