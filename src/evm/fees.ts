import { formatGwei } from "viem";
import { TycheError } from "../lib/errors.ts";
import { remember } from "../lib/memo.ts";
import { parseObject, parseQuantity, RpcError } from "../lib/nodeAnswers.ts";
import type { ChainClient } from "./client.ts";

/** The price that a transaction offers per gas. */
export interface GasPrice {
  /** Highest price of one gas: `gasPrice` of a legacy transaction, `maxFeePerGas` of EIP-1559. */
  readonly gasPriceWei: bigint;
  /** EIP-1559's `maxPriorityFeePerGas`; absent in a legacy transaction. */
  readonly tipWei?: bigint;
}

/** What a transaction's price has to respect. */
export interface PriceTerms {
  /** Highest price of one gas; no limit if absent. */
  readonly capWei?: bigint | undefined;
  /** See `Call.avoidsPeaks`. Default `false`. */
  readonly avoidsPeaks?: boolean | undefined;
}

/** How a network's transactions pay for gas. */
export interface Fees {
  /** Returns the current price of one gas. */
  gasPriceWei(client: ChainClient): Promise<bigint>;
  /**
   * Returns the price to sign with. Default: a legacy transaction at {@link Fees.gasPriceWei}.
   *
   * @throws {PriceAboveCapError} when gas costs more than the cap.
   */
  price?(client: ChainClient, terms: PriceTerms): Promise<GasPrice>;
  /** Highest price of one gas for any transaction. Default: no limit. */
  readonly maxFeeWei?: bigint;
  /** Price increase of a replacement, in percent. Default 12.5; most pools require 10. */
  readonly replacementPercent?: number;
  /** Time without a receipt after which a transaction is resent at a higher price. */
  readonly repriceAfterMs: number;
  /** Whether the node supports `eth_sendRawTransactionSync` (EIP-7966): broadcast and receipt in one round trip. */
  readonly synchronous: boolean;
}

/** An embedded chain mines at once: a transaction without a receipt after this time was lost with a process that died, and is resent. */
const LOST_AFTER_MS = 3_000;
const DEFAULT_REPLACEMENT_PERCENT = 12.5;
/** How long a price stays valid for further transactions: less than the block time of most networks. */
const FRESH_MS = 1_000;

/**
 * Returns the price to sign with now. The network's own cap applies in addition to that of the terms.
 *
 * @throws {PriceAboveCapError} when gas costs more.
 */
export async function quote(fees: Fees, client: ChainClient, terms: PriceTerms = {}): Promise<GasPrice> {
  const limitWei = lower(fees.maxFeeWei, terms.capWei);
  if (fees.price !== undefined) return await fees.price(client, { ...terms, capWei: limitWei });
  const gasPriceWei = await fees.gasPriceWei(client);
  assertPayable(gasPriceWei, limitWei);
  return { gasPriceWei };
}

/**
 * Returns the price of a transaction that replaces another one with the same nonce: a percentage above what that one offered, or above
 * the market price if that is higher.
 */
export function replacementPriceWei(
  paidWei: bigint,
  marketWei: bigint,
  percent = DEFAULT_REPLACEMENT_PERCENT,
): bigint {
  const base = marketWei > paidWei ? marketWei : paidWei;
  return (base * BigInt(Math.round(1_000 + percent * 10))) / 1_000n + 1n;
}

/**
 * Returns the price of a replacement, of the same transaction type as the original; `undefined` when the cap is too low for pools to
 * accept it.
 */
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

/** Creates the fees of a chain with one fixed gas price, such as an embedded one. */
export function fixedFees(gasPriceWei: bigint, options: { readonly synchronous: boolean }): Fees {
  return {
    gasPriceWei: async () => gasPriceWei,
    repriceAfterMs: LOST_AFTER_MS,
    synchronous: options.synchronous,
  };
}

export interface SuggestedFeesOptions {
  /** Time without a receipt after which a transaction is resent at a higher price. */
  readonly repriceAfterMs: number;
  /** Lowest tip that the network accepts. Default 0. */
  readonly minTipWei?: bigint;
  /** Highest price of one gas. Default: no limit. */
  readonly maxFeeWei?: bigint;
  /** Price increase of a replacement, in percent. Default 12.5. */
  readonly replacementPercent?: number;
}

/**
 * Creates fees based on a network's newest blocks. If blocks have a base fee: the median tip of the last ten blocks, plus twice the next
 * base fee, which covers five full blocks in a row (EIP-1559: an eighth more each), or the highest of the last ten if that is more: only
 * what a block charges is paid. Otherwise: a legacy price a tenth above the node's
 * suggestion.
 */
export function suggestedFees(options: SuggestedFeesOptions): Fees {
  const { repriceAfterMs, minTipWei = 0n, maxFeeWei, replacementPercent } = options;
  const read = remember(FRESH_MS, (client: ChainClient) => readMarket(client, minTipWei));

  const price = async (
    client: ChainClient,
    { capWei, avoidsPeaks = false }: PriceTerms,
  ): Promise<GasPrice> => {
    const { baseFeeWei, peakBaseFeeWei = 0n, tipWei } = await read(client);
    if (baseFeeWei === undefined) {
      assertPayable(tipWei, capWei);
      return { gasPriceWei: tipWei };
    }
    // A tip below the market's is slow, but better than none.
    assertPayable(baseFeeWei + (tipWei < minTipWei ? tipWei : minTipWei), capWei);
    const coveredWei = avoidsPeaks || peakBaseFeeWei < 2n * baseFeeWei ? 2n * baseFeeWei : peakBaseFeeWei;
    const wantedWei = coveredWei + tipWei;
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

/** Gas costs more than the cap. Senders wait until the price has fallen. */
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

/** Number of newest blocks whose tips are read. */
const HISTORY_BLOCKS = "0xa";
/** The median of the tips in each block. */
const PERCENTILES = [50];

/** The current price of gas. */
interface GasMarket {
  /** Base fee of the next block (EIP-1559); absent when blocks have none. */
  readonly baseFeeWei?: bigint;
  /** Highest base fee of the last ten blocks and the next one. */
  readonly peakBaseFeeWei?: bigint;
  /** Tip, or the whole price when there is no base fee. */
  readonly tipWei: bigint;
}

/**
 * Reads the current price of gas: the next base fee and the median tip of the last ten blocks, or the node's suggestion plus a tenth.
 */
async function readMarket(client: ChainClient, minTipWei: bigint): Promise<GasMarket> {
  const history = await readHistory(client);
  if (history === undefined) {
    const priceWei = parseQuantity(await client.request("eth_gasPrice"), "gas price");
    return { tipWei: (priceWei * 11n) / 10n };
  }
  const tips = history.tipsWei.filter((tip) => tip > 0n).toSorted((a, b) => (a < b ? -1 : 1));
  const median = tips[Math.floor(tips.length / 2)] ?? 0n;
  const { baseFeeWei, peakBaseFeeWei } = history;
  return { baseFeeWei, peakBaseFeeWei, tipWei: median > minTipWei ? median : minTipWei };
}

/** Reads the base fee of the next block, the highest one, and the tips of the last ones; `undefined` when blocks have no base fee. */
async function readHistory(
  client: ChainClient,
): Promise<
  | { readonly baseFeeWei: bigint; readonly peakBaseFeeWei: bigint; readonly tipsWei: readonly bigint[] }
  | undefined
> {
  let answer: Record<string, unknown>;
  try {
    answer = parseObject(
      await client.request("eth_feeHistory", [HISTORY_BLOCKS, "latest", PERCENTILES]),
      "fee history",
    );
  } catch (error) {
    if (error instanceof RpcError && error.answered) return undefined;
    throw error;
  }
  const { baseFeePerGas, reward } = answer;
  if (!Array.isArray(baseFeePerGas) || baseFeePerGas.length === 0) return undefined;
  const baseFeeWei = parseQuantity(baseFeePerGas.at(-1), "base fee");
  // For blocks without a base fee, nodes report one of 0.
  if (baseFeeWei === 0n && !(await hasBaseFee(client))) return undefined;
  const tipsWei = Array.isArray(reward)
    ? reward.map((tips: unknown) => parseQuantity(Array.isArray(tips) ? tips[0] : tips, "tip"))
    : [];
  const peakBaseFeeWei = baseFeePerGas
    .map((fee: unknown) => parseQuantity(fee, "base fee"))
    .reduce((peak, fee) => (fee > peak ? fee : peak));
  return { baseFeeWei, peakBaseFeeWei, tipsWei };
}

async function hasBaseFee(client: ChainClient): Promise<boolean> {
  const block = await client.request("eth_getBlockByNumber", ["latest", false]);
  return parseObject(block, "block")["baseFeePerGas"] !== undefined;
}
