import { formatGwei } from "viem";
import type { Fees } from "../../evm/fees.ts";
import { TycheError } from "../../lib/errors.ts";

/**
 * Refuses prices of gas above a cap: nothing is sent then, and whatever waits is tried again until the price has fallen.
 *
 * @param maxWei absent: any price is paid.
 */
export function capFees(fees: Fees, maxWei: bigint | undefined): Fees {
  if (maxWei === undefined) return fees;
  return {
    ...fees,
    async gasPriceWei(client) {
      const priceWei = await fees.gasPriceWei(client);
      if (priceWei > maxWei) throw new FeeCapError(priceWei, maxWei);
      return priceWei;
    },
  };
}

/** Gas costs more than the operator pays. */
export class FeeCapError extends TycheError {
  constructor(priceWei: bigint, maxWei: bigint) {
    super(
      `gas costs ${formatGwei(priceWei)} gwei, and the operator pays at most ${formatGwei(maxWei)}; waiting for the price to fall`,
      { code: "chain_unavailable", blame: "upstream", retryable: true },
    );
  }
}
