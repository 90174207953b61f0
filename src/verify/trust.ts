import type { ReportOperators } from "./reportOperators.ts";
import type { RequestVerification } from "./verification.ts";

/** Says in sentences what the checks could not show. */
export function remainingTrust(
  requests: readonly RequestVerification[],
  {
    isEmbedded,
    hasEthereumBlocks = true,
    operators,
    joinedKeys = [],
    isChainlinkVrf = false,
  }: {
    readonly isEmbedded: boolean | undefined;
    readonly hasEthereumBlocks?: boolean;
    /** Who holds the keys that sign the reports, by configuration. */
    readonly operators: readonly ReportOperators[];
    /** For each request, how many VRF keys its words are joined from. Default: one. */
    readonly joinedKeys?: readonly number[];
    readonly isChainlinkVrf?: boolean;
  },
): string[] {
  const hasWords = requests.some(({ kind }) => kind !== "function");
  const hasReports = requests.some(({ kind }) => kind !== "random");
  const trust: string[] = [];
  if (hasWords && isChainlinkVrf)
    trust.push(
      "The random words come from Chainlink's own oracle, which holds the VRF key: it can stay silent, and can't choose a word. That the " +
        "coordinator is Chainlink's is shown by the address that Chainlink publishes for this chain.",
    );
  else if (hasWords && (isEmbedded === true || joinedKeys.length === 0 || joinedKeys.includes(1)))
    trust.push(
      isEmbedded
        ? "The operator of this oracle holds the VRF key and makes this chain's blocks, and could have tried blocks until a word suited: " +
            "on an embedded chain the proof shows that the word was not changed after its block, not that the block was not chosen."
        : `Who holds the VRF key can stay silent, and can't choose a word unless it also chooses block hashes of the chain${isEmbedded === undefined ? ", as the operator of an embedded chain can" : ""}.`,
    );
  const keys = new Set(joinedKeys.filter((count) => count > 1));
  for (const count of keys)
    trust.push(
      `Words joined of ${count} VRF keys can be chosen only by all ${count} holders together; whoever answers last has seen the others' words, and can refuse ` +
        "the draw but not choose it. That the holders are different people is not on chain.",
    );
  if (hasReports) trust.push(...new Set(operators.map(trustInOperators)));
  trust.push(
    "That the contracts' code is the published one, and what they hold (registered keys, stored sources, settings), is the word " +
      "of the node that was asked.",
    hasEthereumBlocks
      ? "That the blocks belong to the chain that everybody else sees is the word of the node that was asked: ask another node, too."
      : "That the transactions and their logs are on the chain is the word of the node that was asked: ask another node, too.",
  );
  return trust;
}

function trustInOperators(operators: ReportOperators): string {
  switch (operators.kind) {
    case "one":
      return (
        "The operator of a self-run oracle holds the keys of all its nodes: their signatures show that it reported the result, and running " +
        "the source again that the result is right. Where that can't be done, the result is the operator's word."
      );
    case "several":
      return `To forge a result, ${operators.faulty + 1} of the ${operators.nodes} operators of this network's nodes would have to agree on it; that they are different people is not on chain.`;
    case "unsent":
      return "How many operators would have to agree to forge a result can't be told before a function request names their coordinator, unless its address is given.";
    case "unknown":
      return "How many operators would have to agree to forge a result can't be told: the node that was asked no longer has the list of signers.";
  }
}
