import { ACCEPTABLE_LAYERS } from "../../../sandbox/index.ts";
import { describeValue } from "../../lib/describeValue.ts";
import type { ParameterViolation } from "../../lib/invalidParameter.ts";
import { PROFILE_NAMES } from "../../networks/profiles.ts";

/** Environment variables that accept something by name, for one start only; the file has no such members. */
export const ACCEPTING_VARIABLES = ["TYCHE_ACCEPT_CHAINS", "TYCHE_ACCEPT_MISSING"] as const;

/**
 * Finds names in TYCHE_ACCEPT_CHAINS and TYCHE_ACCEPT_MISSING that match no network or sandbox layer. A start would refuse them, or
 * proceed without what was meant.
 *
 * @param options.networks Names of the configured networks.
 */
export function findUnknownAccepted(
  environment: Readonly<Record<string, string | undefined>>,
  { networks }: { readonly networks: readonly string[] },
): readonly ParameterViolation[] {
  const known: Readonly<
    Record<(typeof ACCEPTING_VARIABLES)[number], [what: string, names: readonly string[]]>
  > = {
    TYCHE_ACCEPT_CHAINS: ["a network", [...new Set([...PROFILE_NAMES, ...networks])]],
    TYCHE_ACCEPT_MISSING: ["a layer of the sandbox", ACCEPTABLE_LAYERS],
  };
  return ACCEPTING_VARIABLES.flatMap((variable) => {
    const [what, names] = known[variable];
    const entries = (environment[variable] ?? "").split(",").map((entry) => entry.trim());
    return entries
      .filter((entry) => entry !== "" && !names.includes(entry))
      .map((entry) => ({
        path: variable,
        message: `${describeValue(entry)} can't be used: an entry is ${what}, one of ${names.join(", ")}`,
      }));
  });
}
