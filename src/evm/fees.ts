import { RpcError } from "./client.ts";
import type { ChainClient } from "./client.ts";

/** How a network's transactions are paid. */
export interface Fees {
  /** Returns the price of one gas for a transaction sent now. */
  gasPriceWei(client: ChainClient): Promise<bigint>;
  /** Time without a receipt after which a transaction is sent again at a higher price. */
  readonly repriceAfterMs: number;
  /** Whether the node answers `eth_sendRawTransactionSync` (EIP-7966): broadcast and receipt in one round trip. */
  readonly synchronous: boolean;
}

/** An embedded chain mines at once: a transaction without a receipt after this was lost with a process that died, and is sent again. */
const LOST_AFTER_MS = 3_000;

/**
 * Price of a transaction that takes the place of another one with the same nonce: an eighth more than that one paid, or than the
 * market's price where that is higher. The pools ask for a tenth more.
 */
export function replacementPriceWei(paidWei: bigint, marketWei: bigint): bigint {
  const base = marketWei > paidWei ? marketWei : paidWei;
  return (base * 9n) / 8n + 1n;
}

/** Fees of a chain with one fixed gas price, as the embedded ones. */
export function fixedFees(gasPriceWei: bigint, options: { readonly synchronous: boolean }): Fees {
  return {
    gasPriceWei: async () => gasPriceWei,
    repriceAfterMs: LOST_AFTER_MS,
    synchronous: options.synchronous,
  };
}

/**
 * Fees as the node suggests, a tenth on top so that a rise of the base fee doesn't leave a transaction behind.
 *
 * @public for networks that are not embedded.
 */
export function suggestedFees(options: { readonly repriceAfterMs: number }): Fees {
  return {
    async gasPriceWei(client) {
      const price = await client.request("eth_gasPrice");
      if (typeof price !== "string") throw new RpcError("eth_gasPrice", "the answer is not 0x hex");
      return (BigInt(price) * 11n) / 10n;
    },
    repriceAfterMs: options.repriceAfterMs,
    synchronous: false,
  };
}
