import type { RequestVerification } from "../api/types.ts";
import { isQuicknet } from "../text/draw.ts";
import type { ReportOperators } from "./reportOperators.ts";

/** Says in sentences what the checks could not show. */
export function remainingTrust(
  requests: readonly RequestVerification[],
  {
    isEmbedded,
    hasEthereumBlocks = true,
    operators,
    joinedKeys = [],
    beacons = [],
    isChainlinkVrf = false,
  }: {
    readonly isEmbedded: boolean | undefined;
    readonly hasEthereumBlocks?: boolean;
    /** Who holds the keys that sign the reports, by configuration. */
    readonly operators: readonly ReportOperators[];
    /** For each request, how many VRF keys its words are joined from. Default: one. */
    readonly joinedKeys?: readonly number[];
    /** For each request, whether its word follows from a checked round of drand's quicknet, too. Default: none does. */
    readonly beacons?: readonly boolean[];
    readonly isChainlinkVrf?: boolean;
  },
): string[] {
  const hasWords = requests.some(({ kind }) => kind !== "function");
  const hasReports = requests.some(({ kind }) => kind !== "random");
  const trust: string[] = [];
  const hasBeacons = beacons.includes(true);
  if (hasBeacons)
    trust.push(
      "A word that also follows from a round of drand could be chosen neither by the holder of the VRF key nor by whoever makes the blocks nor by drand alone. " +
        "Once the round is out, the holder of the VRF key can still withhold a proof that is not on chain yet" +
        (isEmbedded === false
          ? "."
          : ". On an embedded chain the operator also sets the times of the blocks: what binds it is an answer that named the round before that was due (--receipt)."),
    );
  if (requests.some(({ beacon }) => beacon?.chainHash !== undefined && !isQuicknet(beacon.chainHash)))
    trust.push(
      "A round that is not of drand's quicknet, such as one of a local beacon, is known beforehand to whoever holds its chain's key, mostly the operator: it proves nothing.",
    );
  const hasPlainWords = hasWords && !(hasBeacons && beacons.every(Boolean));
  if (hasPlainWords && isChainlinkVrf)
    trust.push(
      "The random words come from Chainlink's own oracle, which holds the VRF key: it can stay silent, and can't choose a word. That the " +
        "coordinator is Chainlink's is shown by the address that Chainlink publishes for this chain.",
    );
  else if (hasPlainWords && (isEmbedded === true || joinedKeys.length === 0 || joinedKeys.includes(1)))
    trust.push(
      isEmbedded
        ? "The operator of this oracle holds the VRF key and produces this chain's blocks, so it could have produced blocks until a word suited: " +
            "on an embedded chain the proof shows that the word was not changed after its block, not that the block was not chosen."
        : `The holder of the VRF key can withhold a word, but can choose one only by also controlling block hashes${isEmbedded === undefined ? ", as the operator of an embedded chain can" : ""}.`,
    );
  const presets = requests.filter(({ kind }) => kind === "preset");
  if (presets.length > 0)
    trust.push(
      "The operator decides what is asked, and the nodes whether to answer: whoever knows a word first can only keep silent. The request then fails, with its " +
        "word on chain if the proof was delivered." +
        (presets.every(({ label }) => label !== null)
          ? ""
          : " These checks don't show how many requests failed before this one."),
    );
  const labels = requests.flatMap(({ label }) => label ?? []);
  if (labels.length > 0)
    trust.push(
      "A label is one dapp's: others can use the same. Compare the dapp's id with that of whoever announced the draw.",
    );
  if (labels.length > 0 && labels.every(({ searched }) => searched.provenFrom === "0"))
    trust.push(
      "Which later requests have the label is the node's word, as it can leave some out: ask a second node.",
    );
  else if (labels.length > 0)
    trust.push(
      "Which other requests have the label is the node's word as far as it can leave some out, such as an earlier draw: ask a second node.",
    );
  const keys = new Set(joinedKeys.filter((count) => count > 1));
  for (const count of keys)
    trust.push(
      `Words joined of ${count} VRF keys can be chosen only by all ${count} holders together; whoever answers last has seen the others' words, and can refuse ` +
        "the draw but not choose it. The chain can't show whether the holders are independent.",
    );
  if (hasReports) trust.push(...new Set(operators.map(trustInOperators)));
  trust.push(
    "The node is trusted for the contracts' code and state (registered keys, stored sources, settings).",
    hasEthereumBlocks
      ? "The node is trusted for these blocks being on the canonical chain: ask a second node."
      : "The node is trusted for these transactions and their logs being on the canonical chain: ask a second node.",
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
      return `To forge a result, ${operators.faulty + 1} of the ${operators.nodes} operators of this network's nodes would have to agree on it; the chain can't show whether they are independent.`;
    case "unknown":
      return "How many operators would have to agree to forge a result can't be told: the node that was asked no longer has the list of signers.";
  }
}
