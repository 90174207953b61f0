import { formatGwei, formatUnits, getAddress, type Hex } from "viem";
import type { ChainClient } from "../evm/client.ts";
import { RpcError } from "../lib/nodeAnswers.ts";
import { readOf } from "./contractRead.ts";
import { blockhashStoreAbi } from "./contracts/abi.ts";

/** How many blocks back `BLOCKHASH` reaches from the block that asks (EIP-210 was never active). */
export const REACHABLE_BLOCKS = 256n;

/** Returns why a request waits for confirmations, of which its own block is the first; `undefined` if it has them. */
export function describeUnconfirmed(
  { blockNumber, confirmations }: { readonly blockNumber: bigint; readonly confirmations: number },
  head: bigint,
): string | undefined {
  const confirmed = head - blockNumber + 1n;
  return confirmed < BigInt(confirmations)
    ? `waiting for confirmation ${confirmed} of ${confirmations}`
    : undefined;
}

/** Describes a consumer that `_callWithExactGas` of the coordinator refuses to call. */
export function describeCodeless(consumer: Hex): string {
  return `the consumer ${getAddress(consumer)} has no code, so the coordinator refuses every answer`;
}

/** Describes that no proof for a request of this block can be checked any more. */
export function describeLostHash(blockNumber: bigint): string {
  return `the hash of block ${blockNumber} is out of reach: the EVM knows those of the last ${REACHABLE_BLOCKS} blocks, and the BlockhashStore does not have it`;
}

/** Whether the BlockhashStore has a block's hash. Rejects when the node doesn't say. */
export async function isHashStored(
  client: Pick<ChainClient, "call">,
  blockhashStore: Hex,
  block: bigint,
): Promise<boolean> {
  try {
    const { data } = readOf(blockhashStoreAbi, "getBlockhash", [block]);
    await client.call({ to: blockhashStore, data });
    return true;
  } catch (error) {
    // The store answers no by reverting with a reason; any other failure says nothing about the hash.
    if (error instanceof RpcError && error.data !== undefined) return false;
    throw error;
  }
}

/** Describes that the coordinator takes no proof at the current price of gas; omits what is unknown. */
export function describeGasLane({
  gasPriceWei,
  maxGasWei,
}: {
  readonly gasPriceWei?: bigint | undefined;
  readonly maxGasWei?: bigint | undefined;
}): string {
  const cost = gasPriceWei === undefined ? "more" : `${formatGwei(gasPriceWei)} gwei`;
  const limit = maxGasWei === undefined ? "less" : `${formatGwei(maxGasWei)} gwei at most`;
  return `gas lane too low: with this key hash the coordinator takes proofs at ${limit}, and gas costs ${cost}; waiting for the price to fall`;
}

/** Describes that a VRF subscription holds too little for a request; omits the amounts that are unknown. */
export function describeShortage({
  subscriptionId,
  currency,
  held,
  needed,
}: {
  readonly subscriptionId: bigint;
  /** Symbol of the network's coin, or LINK. */
  readonly currency: string;
  /** In wei or juels, as the next. */
  readonly held?: bigint | undefined;
  readonly needed?: bigint | undefined;
}): string {
  const amounts = [
    ...(held === undefined ? [] : [`it holds ${thousandths(held)}`]),
    ...(needed === undefined ? [] : [`these words may cost ${thousandths(needed)}`]),
  ];
  const detail = amounts.length === 0 ? "" : `: ${amounts.join(", and ")}`;
  return `VRF subscription ${subscriptionId} is short of ${currency}${detail}`;
}

/** Describes a function request that the router takes no report for any more. @param timeoutAt Unix time in seconds */
export function describeTimeout(timeoutAt: number): string {
  return `it has timed out: no report arrived before ${new Date(timeoutAt * 1000).toISOString()}`;
}

/** Formats LINK or coin to a thousandth, rounded up. */
function thousandths(amount: bigint): string {
  return formatUnits((amount + 10n ** 15n - 1n) / 10n ** 15n, 3);
}
