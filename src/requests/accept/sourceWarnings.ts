import type { RunResult } from "../../../sandbox/index.ts";
import type { ReturnType } from "../../domain/vocabulary.ts";

const RANDOMNESS =
  "The source makes random numbers of its own (Math.random or crypto). Every oracle node makes others: four nodes see four values, the " +
  "network reports one of them, and nobody can check it. Use a preset, or request random numbers.";
const TIME =
  "The source reads the clock (Date, performance or a timer). Every oracle node reads another time, so the nodes may see different values, and " +
  "running the source again gives another result. Pass the time as an argument.";
const SECRETS = "The source reads `secrets`, and the call passes none: each of its members is undefined.";

const SHOWN = "The result holds a secret. Results are on chain, for all to see.";
/** Shorter values are found in many results by chance. */
const MIN_SHOWN_CHARS = 8;

/** A source that has run, and what it asked for. */
export interface RanSource {
  readonly source: string;
  readonly run: RunResult;
  readonly returnType: ReturnType;
  /** Characters of the longest secret that the result shows; `undefined` if the source was given none. */
  readonly shownChars?: number | undefined;
}

/** Returns what a caller should know about a source although it ran: on an oracle network it may do something else. */
export function warningsOf({ source, run, returnType, shownChars }: RanSource): {
  readonly warnings?: string[];
} {
  const { touched } = run;
  const warnings = [
    ...(run.ok ? warningsOfResult(run.bytes, returnType) : []),
    ...(touched.includes("randomness") ? [RANDOMNESS] : []),
    ...(touched.includes("time") ? [TIME] : []),
    ...((shownChars ?? 0) >= MIN_SHOWN_CHARS ? [SHOWN] : []),
    ...(shownChars === undefined && /\bsecrets\s*(?:\??\.|\[)/.test(source) ? [SECRETS] : []),
  ];
  return warnings.length === 0 ? {} : { warnings };
}

/** Size of an encoded number, of either type. */
const NUMBER_BYTES = 32;

/** Text read as a number is a plausible number, and a number read as text is 32 characters that can't be seen. */
function warningsOfResult(bytes: Uint8Array, returnType: ReturnType): string[] {
  if (returnType !== "string" && bytes.length < NUMBER_BYTES)
    return [
      `The result has ${bytes.length} bytes and is read as ${returnType}, but an encoded number has ${NUMBER_BYTES}. Return ` +
        `${returnType === "uint256" ? "Functions.encodeUint256" : "Functions.encodeInt256"}(number), or ask for returnType string if it is text.`,
    ];
  if (returnType === "string" && bytes.length === NUMBER_BYTES && bytes[0] === 0)
    return [
      `The result has ${NUMBER_BYTES} bytes, the first of them 0, as an encoded number, but is read as string. Ask for returnType uint256 or int256.`,
    ];
  return [];
}
