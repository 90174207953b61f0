import type { Touch } from "../../../sandbox/index.ts";

const RANDOMNESS =
  "The source makes random numbers of its own (Math.random or crypto). Every oracle node makes others: four nodes see four values, the " +
  "network reports one of them, and nobody can check it. Use a preset, or request random numbers.";
const TIME =
  "The source reads the clock (Date or performance). Every oracle node reads another time, so the nodes may see different values, and " +
  "running the source again gives another result. Pass the time as an argument.";
const SECRETS = "The source reads `secrets`, and the call passes none: each of its members is undefined.";

/** A source that has run, and what it asked for. */
export interface RanSource {
  readonly source: string;
  readonly touched: readonly Touch[];
  /** Whether the source was given secrets. */
  readonly hasSecrets: boolean;
}

/** Returns what a caller should know about a source although it ran: on an oracle network it may do something else. */
export function warningsOf({ source, touched, hasSecrets }: RanSource): { readonly warnings?: string[] } {
  const warnings = [
    ...(touched.includes("randomness") ? [RANDOMNESS] : []),
    ...(touched.includes("time") ? [TIME] : []),
    ...(!hasSecrets && /\bsecrets\s*(?:\??\.|\[)/.test(source) ? [SECRETS] : []),
  ];
  return warnings.length === 0 ? {} : { warnings };
}
