import type { Hex } from "viem";
import type { ChainClient } from "../evm/client.ts";
import type { Call } from "../evm/signedTransaction.ts";
import { RpcError, toQuantity, type Receipt } from "../lib/nodeAnswers.ts";
import { decodeRevertReason, type RevertReason } from "./revertReason.ts";

/**
 * Finds out why a mined transaction reverted: repeats its call with the gas it had, on the state after its block, then on the
 * latest. Never rejects. Returns "no reason given" if the call gives none or works there, and the name `OutOfGas` if the
 * call, or one that it made, had too little gas.
 */
export async function findRevertReason(
  client: Pick<ChainClient, "request">,
  { from, to, data, gas }: Call & { readonly from: Hex },
  { blockNumber, gasUsed }: Pick<Receipt, "blockNumber" | "gasUsed">,
): Promise<RevertReason> {
  const outOfGas = (text: string): RevertReason => ({ name: "OutOfGas", text: `out of gas: ${text}` });
  // A revert returns the remaining gas; only an exceptional halt consumes all of it (EIP-140).
  if (gasUsed >= gas) return outOfGas(`all of its ${gas} gas was used`);
  for (const block of [toQuantity(blockNumber), "latest"]) {
    const answer = await simulateCall(client, { from, to, data, gas: toQuantity(gas) }, block);
    if (answer === "works" || answer === "halts" || answer === "unknown") continue;
    if (answer !== "0x") return decodeRevertReason(answer);
    // If a nested call ran out of gas, there is no reason, and the call works with the gas of a whole block.
    if ((await simulateCall(client, { from, to, data }, block)) === "works")
      return outOfGas(`${gas} gas is too little for the calls that it makes`);
  }
  return decodeRevertReason("0x");
}

/** Outcome of a call: revert data, `works`, `halts` if it fails without revert data, or `unknown` if the node can't tell. */
export type Simulation = Hex | "works" | "halts" | "unknown";

/** Runs a call on the state after a block, with `eth_call`. Never rejects. */
export async function simulateCall(
  client: Pick<ChainClient, "request">,
  call: object,
  block: string,
): Promise<Simulation> {
  try {
    await client.request("eth_call", [call, block]);
    return "works";
  } catch (error) {
    const data = (error as { data?: Hex }).data;
    return data ?? (error instanceof RpcError && error.answered ? "halts" : "unknown");
  }
}
