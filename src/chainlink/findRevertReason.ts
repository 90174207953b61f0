import type { Hex } from "viem";
import type { ChainClient } from "../evm/client.ts";
import type { Call } from "../evm/signedTransaction.ts";
import { toQuantity, type Receipt } from "../lib/nodeAnswers.ts";
import { decodeRevertReason, type RevertReason } from "./revertReason.ts";
import { simulateCall } from "./simulateCall.ts";

/**
 * Finds out why a mined transaction reverted: runs its call again with the gas it had, on the state after its block, then on the
 * newest. Never rejects; gives "no reason given" when the call says none, or works now, and the name `OutOfGas` when it had too little
 * gas, be it in a call that it made.
 */
export async function findRevertReason(
  client: Pick<ChainClient, "request">,
  { from, to, data, gas }: Call & { readonly from: Hex },
  { blockNumber, gasUsed }: Pick<Receipt, "blockNumber" | "gasUsed">,
): Promise<RevertReason> {
  const outOfGas = (text: string): RevertReason => ({ name: "OutOfGas", text: `out of gas: ${text}` });
  // A revert gives back the gas that is left; only an exceptional halt takes all of it (EIP-140).
  if (gasUsed >= gas) return outOfGas(`all of its ${gas} gas was used`);
  for (const block of [toQuantity(blockNumber), "latest"]) {
    const answer = await simulateCall(client, { from, to, data, gas: toQuantity(gas) }, block);
    if (answer === "works" || answer === "halts" || answer === "unknown") continue;
    if (answer !== "0x") return decodeRevertReason(answer);
    // A call that a contract made ran out of gas: it says nothing, and works with all the gas of a block.
    if ((await simulateCall(client, { from, to, data }, block)) === "works")
      return outOfGas(`${gas} gas is too little for the calls that it makes`);
  }
  return decodeRevertReason("0x");
}
