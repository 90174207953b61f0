import { toEventSelector, type Hex } from "viem";
import type { RawLog } from "../lib/nodeAnswers.ts";
import { addressOf, uint } from "./eventData.ts";

/** First topic of a transfer. */
export const TRANSFER = toEventSelector("Transfer(address,address,uint256)");

/** A transfer of LINK; addresses in lower case. */
export interface LinkTransfer {
  readonly transactionHash: Hex;
  readonly from: Hex;
  readonly to: Hex;
  readonly juels: string;
}

/** Returns the transfer that a log of the LINK token tells of (ERC-20 `Transfer`); `undefined` for any other log. */
export function findTransfer(log: RawLog, link: Hex): LinkTransfer | undefined {
  const { address, topics, data, transactionHash } = log;
  const [event, from, to] = topics;
  if (address !== link.toLowerCase() || event !== TRANSFER || from === undefined || to === undefined)
    return undefined;
  return { transactionHash, from: addressOf(from), to: addressOf(to), juels: uint(data, 0).toString() };
}
