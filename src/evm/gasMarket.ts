import { parseObject, parseQuantity, RpcError } from "../lib/nodeAnswers.ts";
import type { ChainClient } from "./client.ts";

/** Number of newest blocks whose tips are read. */
const HISTORY_BLOCKS = "0xa";
/** The median of the tips in each block. */
const PERCENTILES = [50];

/** The current price of gas. */
export interface GasMarket {
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
export async function readMarket(client: ChainClient, minTipWei: bigint): Promise<GasMarket> {
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
