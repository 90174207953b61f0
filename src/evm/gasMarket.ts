import { parseObject, parseQuantity, RpcError } from "../lib/nodeAnswers.ts";
import type { ChainClient } from "./client.ts";

/** Newest blocks whose tips are looked at. */
const HISTORY_BLOCKS = "0xa";
/** Of the tips in each block the median. */
const PERCENTILES = [50];

/** What gas costs now. */
export interface GasMarket {
  /** Of the next block (EIP-1559); absent where blocks have none. */
  readonly baseFeeWei?: bigint;
  /** Tip, or the whole price where there is no base fee. */
  readonly tipWei: bigint;
}

/** Reads what gas costs: the next base fee and the median tip of the last ten blocks, or the node's suggestion with a tenth on top. */
export async function readMarket(client: ChainClient, minTipWei: bigint): Promise<GasMarket> {
  const history = await readHistory(client);
  if (history === undefined) {
    const priceWei = parseQuantity(await client.request("eth_gasPrice"), "gas price");
    return { tipWei: (priceWei * 11n) / 10n };
  }
  const tips = history.tipsWei.filter((tip) => tip > 0n).toSorted((a, b) => (a < b ? -1 : 1));
  const median = tips[Math.floor(tips.length / 2)] ?? 0n;
  return { baseFeeWei: history.baseFeeWei, tipWei: median > minTipWei ? median : minTipWei };
}

/** Base fee of the next block and the tips of the last ones; `undefined` where blocks have no base fee. */
async function readHistory(
  client: ChainClient,
): Promise<{ readonly baseFeeWei: bigint; readonly tipsWei: readonly bigint[] } | undefined> {
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
  // Blocks without a base fee are told with one of 0.
  if (baseFeeWei === 0n && !(await hasBaseFee(client))) return undefined;
  const tipsWei = Array.isArray(reward)
    ? reward.map((tips: unknown) => parseQuantity(Array.isArray(tips) ? tips[0] : tips, "tip"))
    : [];
  return { baseFeeWei, tipsWei };
}

async function hasBaseFee(client: ChainClient): Promise<boolean> {
  const block = await client.request("eth_getBlockByNumber", ["latest", false]);
  return parseObject(block, "block")["baseFeePerGas"] !== undefined;
}
