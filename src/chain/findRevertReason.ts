import type { Hex } from "viem";
import { toQuantity } from "./client.ts";
import type { ChainClient, Receipt } from "./client.ts";
import { decodeRevertReason } from "./revertReason.ts";
import type { Call } from "./signedTransaction.ts";

/**
 * Finds out why a mined transaction reverted: runs its call again with the gas it had, on the state after its block, then on the
 * newest. Never rejects; gives "no reason given" when the call says none, or works now.
 */
export async function findRevertReason(
  client: Pick<ChainClient, "request">,
  { from, to, data, gas }: Call & { readonly from: Hex },
  { blockNumber }: Pick<Receipt, "blockNumber">,
): Promise<string> {
  for (const block of [toQuantity(blockNumber), "latest"]) {
    try {
      await client.request("eth_call", [{ from, to, data, gas: toQuantity(gas) }, block]);
    } catch (error) {
      const reason = (error as { data?: Hex }).data;
      if (reason !== undefined) return decodeRevertReason(reason).text;
    }
  }
  return "no reason given";
}
