import type { Hex } from "viem";
import { RpcError } from "../../src/lib/nodeAnswers.ts";
import { decodeRevertReason } from "../../src/chainlink/revertReason.ts";
import type { TestChain } from "./anvil.ts";

/** Simulates a call and returns its revert reason; `undefined` if it succeeds. */
export async function revertOf(
  chain: TestChain,
  call: { readonly from: Hex; readonly to: Hex; readonly data: Hex },
): Promise<string | undefined> {
  try {
    await chain.client.call(call);
    return undefined;
  } catch (error) {
    if (!(error instanceof RpcError) || error.data === undefined) throw error;
    return decodeRevertReason(error.data).text;
  }
}
