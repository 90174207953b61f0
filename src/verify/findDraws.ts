import type { Hex } from "viem";
import { EVENT_TOPICS, findEvent } from "../chainlink/events.ts";
import { canonicalLabel } from "../lib/label.ts";
import { createChainFacts, type ChainReader, type FoundLogs, type SearchBounds } from "./chainFacts.ts";

/** Transactions that are listed. */
const MAX_TRANSACTIONS = 100;
/** Of these, how many are read to say more of them. */
const MAX_DESCRIBED = 20;

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
): Promise<
  FoundLogs & {
    /** Of the first transactions, in their order, if there are several: the dapps whose label it is, and when they were mined. */
    readonly described: readonly { readonly dapps: readonly string[]; readonly time: string | undefined }[];
  }
> {
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
  const found = await facts.findLogs(search, { ...bounds, earlier, around, limit: MAX_TRANSACTIONS });
  const { transactionHashes: hashes } = found;
  const described = hashes.slice(0, hashes.length > 1 ? MAX_DESCRIBED : 0).map(async (hash) => {
    // A reorganisation may have removed it since the search.
    const { logs, blockTime } = await facts
      .getTransaction(hash)
      .catch(() => ({ logs: [], blockTime: undefined }));
    const events = logs.filter(({ address }) => address === presetConsumer).map((log) => findEvent(log));
    const dapps = events.flatMap((event) =>
      event?.name === "Labelled" && event.label === wanted ? event.dapp : [],
    );
    const time = blockTime === undefined ? undefined : new Date(blockTime * 1000).toISOString();
    return { dapps: [...new Set(dapps)], time };
  });
  return { ...found, described: await Promise.all(described) };
}
