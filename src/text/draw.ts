/** How the pages and the command say what was drawn, when, and who delivered it. */
import { parseList } from "./entryLists.ts";
import { readableTime } from "../lib/time.ts";
import { isError } from "./verification.ts";

interface FoundDraw {
  readonly kind: string;
  readonly preset: {
    readonly sourceId: number;
    readonly name: string | null;
    readonly parameters: readonly string[];
  } | null;
  readonly args: readonly string[] | null;
  readonly requestedAt: string | null;
  readonly deliveredAt: string | null;
  readonly deliveredBy: string | null;
  readonly err: string | null;
}

/** Longer values are shortened in the middle. */
const MAX_SHOWN = 140;

/** Says what a preset is whose source the verifier doesn't know. */
export const UNKNOWN_PRESET = "none that is known here";

/**
 * Names what a request ran and its arguments: `nDice (source 3): numDice = 2, numFaces = 6`. `undefined` for random numbers.
 *
 * @param countFrom the fewest entries of a preset's list that is only counted. Default: no list is.
 */
export function describeDraw(
  { kind, preset, args }: FoundDraw,
  countFrom = Number.POSITIVE_INFINITY,
): string | undefined {
  if (kind === "function")
    return args === null ? undefined : `a source of its own, args = ${JSON.stringify(args)}`;
  const named = args?.map((arg, i) => {
    const name = preset?.parameters[i];
    const { length } = countFrom === Number.POSITIVE_INFINITY ? [] : (parseList(arg) ?? []);
    const shown = length < countFrom ? readable(arg) : `${length} entries`;
    return name === undefined ? shown : `${name} = ${shown}`;
  });
  if (preset === null) return undefined;
  const what = `${preset.name ?? "a preset"} (source ${preset.sourceId})`;
  if (named === undefined) return what;
  return `${what}: ${named.length === 0 ? "no arguments" : named.join(", ")}`;
}

/** Shortens a value of more than 140 characters in the middle: a list after an entry, and says how many it leaves out. */
export function shorten(text: string): string {
  if (text.length <= MAX_SHOWN) return text;
  const start = text.slice(0, MAX_SHOWN - 20);
  const ends = findEntryEnds(text);
  const last = ends.findLast(({ at }) => at <= start.length);
  if (last === undefined || last.at < start.length / 3) return `${start} … ${text.slice(-16)}`;
  const rest = ends.slice(ends.indexOf(last) + 1);
  const closed = rest.findIndex(({ depth }) => depth < last.depth);
  const left = rest
    .slice(0, closed === -1 ? rest.length : closed)
    .filter(({ depth }) => depth === last.depth);
  return `${text.slice(0, last.at)} … and ${left.length + 1} more`;
}

/** Finds where entries end in a text with lists in JSON, and in how many lists each is: commas and brackets in quotes are text. */
function findEntryEnds(text: string): readonly { readonly at: number; readonly depth: number }[] {
  let depth = 0;
  const ends: { readonly at: number; readonly depth: number }[] = [];
  for (const { 0: found, index } of text.matchAll(/"(?:[^"\\]|\\.)*(?:"|$)|[,[\]]/gs)) {
    if (found === "[") depth += 1;
    else if (found === "]") depth -= 1;
    else if (found === ",") ends.push({ at: index + 1, depth });
  }
  return ends;
}

/** Whether a chain of rounds is drand's quicknet: by its hash, written out as `drand.ts` brings all of the curve's code along. */
export function isQuicknet(chainHash: string): boolean {
  return chainHash === "0x52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971";
}

/** Names a round, and truly: one that the service or its operator signs is not drand's. */
export function nameBeacon(beacon: {
  readonly round: string;
  readonly chainHash: string;
  readonly isLocal?: true;
}): string {
  if (beacon.isLocal === true) return `the local beacon's round ${beacon.round}`;
  return isQuicknet(beacon.chainHash)
    ? `drand's round ${beacon.round}`
    : `round ${beacon.round} of the operator's own chain of rounds, ${beacon.chainHash}`;
}

/** Returns where drand publishes a round at its time; `undefined` for rounds of other chains. */
export function addressOfBeacon({
  round,
  chainHash,
  isLocal,
}: Parameters<typeof nameBeacon>[0]): string | undefined {
  if (isLocal === true || !isQuicknet(chainHash)) return undefined;
  return `https://api.drand.sh/${chainHash.slice(2)}/public/${round}`;
}

/** How long after its time a round is late: relays have it a second after it, mostly. */
export const LATE_MS = 60_000;

/** How long a request waits for a round of drand that does not come. */
export const BEACON_WAIT_MS = 86_400_000;

/** Says what a request that is on chain waits for. */
export const AWAITED = {
  words: "its random words are not on chain yet",
  result: "its result is not on chain yet",
} as const;

/** Says that a request waits for a round, which is due. */
export function describeBeaconWait(
  beacon: Parameters<typeof nameBeacon>[0] & { readonly time: string },
): string {
  return `waiting for ${nameBeacon(beacon)}, due at ${beacon.time}`;
}

/** Returns what a call names a request's beacon by. */
export function beaconOf(round: { readonly isLocal?: true } | undefined): "drand" | "local" | undefined {
  return round && (round.isLocal === true ? "local" : "drand");
}

/** Quotes text. Numbers and lists, which sources get as JSON, are shown as they are. */
function readable(arg: string): string {
  try {
    const value: unknown = JSON.parse(arg);
    if (Array.isArray(value) || (typeof value === "number" && /^-?[0-9]+$/.test(arg))) return arg;
  } catch {
    // It is no JSON.
  }
  return JSON.stringify(arg);
}

/** Says when a request and its answer were mined, by the clock of their blocks. `undefined` if the node shows none of them. */
export function describeTimes({
  kind,
  requestedAt,
  deliveredAt,
  deliveredBy,
  err,
}: FoundDraw): string | undefined {
  const what = kind === "random" ? "proof" : isError(err) ? "error" : "result";
  const parts = [
    ...(requestedAt === null ? [] : [`requested ${readableTime(requestedAt)}`]),
    ...(deliveredBy === null
      ? []
      : [
          `${what} delivered${deliveredAt === null ? "" : ` ${readableTime(deliveredAt)}`} by ${deliveredBy}`,
        ]),
  ];
  return parts.length === 0 ? undefined : parts.join(", ");
}
