import type { Hex } from "viem";
import { findRevertReason } from "../chainlink/findRevertReason.ts";
import { TycheError } from "../lib/errors.ts";
import { parseObject, parseReceipt } from "../lib/nodeAnswers.ts";
import type { ChainReader } from "./chainFacts.ts";

/** Creates the error for a reverted transaction, with the reason if the node still reveals it. The reason is the node's word. */
export async function createRevertedError(
  hash: Hex,
  { client, network }: { readonly client: ChainReader; readonly network: string },
): Promise<RevertedTransactionError> {
  const [transaction, receipt] = await Promise.all([
    client.request("eth_getTransactionByHash", [hash]),
    client.request("eth_getTransactionReceipt", [hash]),
  ]);
  const { from, to, input, gas } = parseObject(transaction, "transaction");
  if (typeof to !== "string" || typeof from !== "string" || typeof gas !== "string")
    return new RevertedTransactionError(hash, network, "no reason given");
  const call = { from: from as Hex, to: to as Hex, data: input as Hex, gas: BigInt(gas) };
  const { text } = await findRevertReason(client, call, parseReceipt(receipt));
  return new RevertedTransactionError(hash, network, text);
}

/** The transaction reverted, so it left nothing on chain. */
export class RevertedTransactionError extends TycheError {
  constructor(hash: Hex, network: string, reason: string) {
    super(`The transaction ${hash} on ${network} reverted, so it holds no request of the oracle: ${reason}`, {
      code: "not_found",
      blame: "caller",
    });
  }
}
