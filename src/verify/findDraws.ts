import type { Hex } from "viem";
import type { RequestVerification } from "../api/types.ts";
import { EVENT_TOPICS, findEvent } from "../chainlink/events.ts";
import { canonicalLabel } from "../domain/label.ts";
import { isError } from "../text/verification.ts";
import { createChainFacts, type FoundLogs, type SearchBounds } from "./chainFacts.ts";
import { describeErrorBytes, describeResult } from "./describeResult.ts";
import { verifyTransaction, type VerifyOptions } from "./verifyTransaction.ts";

/** Transactions that are listed. */
const MAX_TRANSACTIONS = 100;
/** Of these, how many are read to say more of them. */
const MAX_DESCRIBED = 20;

/** What the chain has of a transaction among several with the same label. */
export type DescribedDraw = Pick<
  RequestVerification,
  "requestId" | "kind" | "preset" | "args" | "result" | "err" | "randomNumber" | "requestedAt"
> & { readonly dapp: string };

/**
 * Finds the transactions with requests that have a label, of whatever dapp, by the node's word: a verification of what is found shows
 * whether that is true, and whether the dapp has others.
 *
 * @param options.presetConsumer lower case
 */
export async function findDraws(
  label: string,
  options: SearchBounds &
    Pick<VerifyOptions, "client" | "chainId" | "network" | "findPreset"> & {
      readonly contracts: VerifyOptions["contracts"] | undefined;
      readonly presetConsumer: Hex;
    },
): Promise<
  FoundLogs & {
    /** Of the first transactions, in their order, if there are several: the requests with the label. */
    readonly described: readonly (readonly DescribedDraw[])[];
  }
> {
  const { client, chainId, network, findPreset, contracts, presetConsumer, ...bounds } = options;
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
  const means = { client, chainId, network, findPreset, contracts: contracts ?? {} };
  const described = hashes
    .slice(0, hashes.length > 1 ? MAX_DESCRIBED : 0)
    .map((hash) => describe(hash, wanted, means));
  return { ...found, described: await Promise.all(described) };
}

/** Reads the requests of a transaction that have a label. Nothing of them is decided here: their verification is. */
async function describe(
  hash: Hex,
  wanted: string,
  means: Pick<VerifyOptions, "client" | "chainId" | "network" | "findPreset" | "contracts">,
): Promise<readonly DescribedDraw[]> {
  const nothing = { fromBlock: 0n, toBlock: 0n };
  try {
    const { requests } = await verifyTransaction(hash, {
      ...means,
      hasEthereumBlocks: false,
      isEmbedded: undefined,
      labelSearch: nothing,
      maxResponseBytes: 0,
      caller: "list",
      run: () => Promise.resolve({ kind: "skipped", reason: "only listed", touched: [] }),
    });
    return requests.flatMap(({ label, ...request }) =>
      label?.label === wanted ? { ...request, dapp: label.dapp } : [],
    );
  } catch {
    // A reorganisation may have removed it since the search.
    return [];
  }
}

/** Says what came of a request as the chain has it. */
export function describeDrawResult({ kind, result, err, randomNumber }: DescribedDraw): string {
  if (isError(err)) return `error: ${describeErrorBytes(err as Hex)}`;
  if (kind === "random" && randomNumber.length > 0) return randomNumber.join(", ");
  return kind === "random" || result === null ? "no result yet" : describeResult(result as Hex);
}
