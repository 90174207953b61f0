import type { Hex } from "viem";
import { findRevertReason } from "../chainlink/findRevertReason.ts";
import { TycheError } from "../lib/errors.ts";
import type { Receipt } from "../lib/nodeAnswers.ts";
import type { ChainFacts, ChainReader } from "./chainFacts.ts";

/** Creates the error for a reverted transaction, with the reason if the node still reveals it. */
export async function createRevertedError(
  receipt: Receipt,
  {
    facts,
    client,
    network,
  }: { readonly facts: ChainFacts; readonly client: ChainReader; readonly network: string },
): Promise<RevertedTransactionError> {
  const { to, input, answer } = await facts.getTransaction(receipt.transactionHash);
  const { from, gas } = answer;
  if (to === undefined || typeof from !== "string" || typeof gas !== "string")
    return new RevertedTransactionError(receipt.transactionHash, network, "no reason given");
  const call = { from: from as Hex, to, data: input, gas: BigInt(gas) };
  const { text } = await findRevertReason(client, call, receipt);
  return new RevertedTransactionError(receipt.transactionHash, network, text);
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
