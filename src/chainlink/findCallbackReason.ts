import { encodeFunctionData, parseAbi, type Hex } from "viem";
import type { ChainClient } from "../evm/client.ts";
import { fromHexText } from "../lib/hex.ts";
import { toQuantity } from "../lib/nodeAnswers.ts";
import { decodeRevertReason, type RevertReason } from "./revertReason.ts";
import { simulateCall } from "./simulateCall.ts";

/** VRFConsumerBaseV2 and VRFConsumerBaseV2Plus. */
const consumerAbi = parseAbi(["function rawFulfillRandomWords(uint256 requestId, uint256[] randomWords)"]);

/** A callback with random words, as the coordinator made it. */
export interface WordsCallback {
  readonly coordinator: Hex;
  readonly consumer: Hex;
  readonly requestId: Hex;
  readonly words: readonly bigint[];
  /** Callback gas limit of the request. */
  readonly gasLimit: number;
}

/**
 * Finds out why a consumer's callback failed although its transaction succeeded. The coordinator logs no reason, so the call
 * is repeated with the gas it had, on the state after its block. Never rejects; `undefined` if the call works there or the
 * node can't tell (it may not have state that old). The name is `OutOfGas` if more gas would have helped, or none was left.
 */
export async function findCallbackReason(
  client: Pick<ChainClient, "request">,
  { coordinator: from, consumer: to, requestId, words, gasLimit }: WordsCallback,
  blockNumber: bigint,
): Promise<RevertReason | undefined> {
  const args = [BigInt(requestId), words] as const;
  const data = encodeFunctionData({ abi: consumerAbi, functionName: "rawFulfillRandomWords", args });
  const block = toQuantity(blockNumber);
  const gas = toQuantity(intrinsicGas(data) + BigInt(gasLimit));
  const answer = await simulateCall(client, { from, to, data, gas }, block);
  if (answer === "works" || answer === "unknown") return undefined;
  if (answer !== "halts" && answer !== "0x") return decodeRevertReason(answer);
  // A node that lacks state that old answers with an error, too.
  if (answer === "halts" && !(await hasState(client, to, block))) return undefined;
  if ((await simulateCall(client, { from, to, data }, block)) === "works")
    return { name: "OutOfGas", text: `out of gas: its ${gasLimit} gas is too little` };
  if (answer === "halts")
    return { name: "OutOfGas", text: `out of gas: all of its ${gasLimit} gas was used` };
  return decodeRevertReason("0x");
}

async function hasState(client: Pick<ChainClient, "request">, address: Hex, block: string): Promise<boolean> {
  try {
    await client.request("eth_getBalance", [address, block]);
    return true;
  } catch {
    return false;
  }
}

/** Returns the gas that a transaction with this calldata pays before it runs (EIP-2028). */
function intrinsicGas(data: Hex): bigint {
  return fromHexText(data).reduce((sum, byte) => sum + (byte === 0 ? 4n : 16n), 21_000n);
}
