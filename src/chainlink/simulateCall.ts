import type { Hex } from "viem";
import type { ChainClient } from "../evm/client.ts";
import { RpcError } from "../lib/nodeAnswers.ts";

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
