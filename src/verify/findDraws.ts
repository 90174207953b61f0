import type { Hex } from "viem";
import { EVENT_TOPICS, findEvent } from "../chainlink/events.ts";
import { canonicalLabel } from "../lib/label.ts";
import { createChainFacts, type ChainReader, type FoundLogs, type SearchBounds } from "./chainFacts.ts";

/** Transactions that are listed. */
const MAX_TRANSACTIONS = 100;

/**
 * Finds the transactions with requests that have a label, of whatever dapp, by the node's word: a verification of what is found shows
 * whether that is true, and whether the dapp has others.
 *
 * @param presetConsumer lower case
 */
export async function findDraws(
  label: string,
  options: SearchBounds & {
    readonly client: ChainReader;
    readonly chainId: number;
    readonly presetConsumer: Hex;
  },
): Promise<FoundLogs> {
  const { client, chainId, presetConsumer, ...bounds } = options;
  const wanted = canonicalLabel(label);
  const earlier = bounds.earlier?.label === wanted ? bounds.earlier : undefined;
  // Logs are searched for, and no block is read.
  const facts = createChainFacts(client, { network: "the chain", chainId, hasEthereumBlocks: false });
  const search = {
    address: presetConsumer,
    topics: [EVENT_TOPICS.Labelled],
    isWanted(log: Parameters<typeof findEvent>[0]): boolean {
      const event = findEvent(log);
      return event?.name === "Labelled" && event.label === wanted;
    },
  };
  const around = BigInt(String(await client.request("eth_blockNumber")));
  return await facts.findLogs(search, { ...bounds, earlier, around, limit: MAX_TRANSACTIONS });
}
