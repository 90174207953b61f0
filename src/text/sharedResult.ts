/** How pages and the previews of links to them name a shared result. */
import { capitalize } from "../lib/capitalize.ts";
import { countOf } from "../lib/countOf.ts";
import { cut } from "../lib/cut.ts";
import { spelledLabel } from "../domain/label.ts";
import { findSourceHosts } from "./sourceHosts.ts";
import { isText } from "../lib/hiddenCharacters.ts";

/** A preset's result in parts, as its preset says. */
type Shown =
  | { readonly as: "coin"; readonly side: string }
  | { readonly as: "dice"; readonly rolls: readonly string[] }
  | { readonly as: "list"; readonly entries: readonly string[] };

/** Names a request by what it asks for; a function never by its code, which is for its source to show. */
function nameKind({ kind, title }: { readonly kind: Kind; readonly title?: string }): string {
  if (title !== undefined && !title.startsWith(BY_CODE)) return title;
  return { preset: "Preset", random: "Random numbers", function: NAMELESS }[kind];
}

/** How the name of a function begins whose source has neither a comment nor a host to name it: with its arguments, or else its first line. */
const BY_ARGUMENTS = "Function of ";
const BY_CODE = "Function “";
/** What a function is called that nothing names. */
const NAMELESS = "Function";

/** Longest name of a function, and longest line of code in one, in characters. */
const MAX_NAME = 80;
const MAX_LINE = 48;

/**
 * Names a function by what its source says first in a comment, by the hosts that it names, by its arguments, or by its first line of code;
 * `undefined` where there is none of them. The name says that it is a function: its author could give it a preset's title.
 */
export function nameFunction({
  source,
  args,
}: {
  readonly source: string;
  readonly args: readonly string[];
}): string | undefined {
  const comment = findComment(source);
  if (comment !== undefined) return cut(`Function: ${comment}`, MAX_NAME);
  const hosts = findSourceHosts(source) ?? [];
  if (hosts.length > 0) return cut(`Function that names ${hosts.join(", ")}`, MAX_NAME);
  if (args.length > 0) return cut(`${BY_ARGUMENTS}${args.join(", ")}`, MAX_NAME);
  const [line = ""] = source.replace(COMMENTS, "").split(LINE_BREAK);
  return line === "" ? undefined : `${BY_CODE}${cut(line.trim(), MAX_LINE)}”`;
}

/** The comments before a source's first code. */
const COMMENTS = /^(?:\s|\/\/.*|\/\*[\s\S]*?\*\/)*/;
const LINE_BREAK = /[\n\r\u2028\u2029]/;

/** Returns the first line with words of the comments before a source's first code. */
function findComment(source: string): string | undefined {
  const [comments = ""] = COMMENTS.exec(source) ?? [];
  const lines = comments.split(LINE_BREAK).map((line) => line.replace(/^[\s/*]+/, "").replace(/\*\/.*$/, ""));
  return lines.find((line) => /[\p{L}\p{N}]/u.test(line))?.trim();
}

type Kind = "preset" | "random" | "function";

/** A request without a result. */
interface SharedRequest {
  readonly state: "waiting" | "failed";
  readonly why: string;
  /** Absent before it is on chain, as all that it asks for. */
  readonly kind?: Kind;
  readonly title?: string;
  readonly label?: string;
  readonly givenLabel?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** Names a request that has no result yet, or will have none, as {@link describeShared} names a result. */
export function describeRequest(request: Omit<SharedRequest, "why">): {
  readonly heading: string;
  readonly subject: readonly string[];
} {
  const { state, kind, title, params = {} } = request;
  const label = spelledLabel(request);
  const what =
    kind === undefined
      ? `A request that ${state === "failed" ? "failed before it was on chain" : "is not on chain yet"}`
      : nameKind({ kind, ...(title === undefined ? {} : { title }) });
  const [list, ...others] = Object.values(params).filter((value) => Array.isArray(value));
  const extent = list !== undefined && others.length === 0 ? countEntries(list) : undefined;
  const subject = [label === undefined ? undefined : what, extent].filter((text) => text !== undefined);
  return { heading: label ?? what, subject };
}

interface Shared {
  readonly preset?: string;
  readonly title?: string;
  readonly givenLabel?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly shown?: Shown;
  readonly outcome: { readonly success: boolean; readonly label?: string } & (
    | { readonly randomNumber: readonly string[] }
    | { readonly parsedResult: string; readonly err: string }
  );
}

/** Says of a request that failed without a result what that means. */
export function describeEnd({ kind }: Pick<SharedRequest, "kind">): string {
  return kind === undefined
    ? "It isn't on chain: there is no result, and there will be none."
    : "It is on chain, but had no answer in its time: there is no result.";
}

/** Says of a request that is on chain what is fixed by that; nothing of random numbers, which have no inputs. */
export function describeFixed(kind: Kind | undefined): string | undefined {
  if (kind === undefined || kind === "random") return undefined;
  const inputs = kind === "preset" ? "All inputs and the program" : "The program and its arguments";
  return `${inputs} are on chain, where nobody can change them any more.`;
}

/** Says of a request what becomes of it if its round of drand doesn't come; `until` is when the service gives up. */
export function describeNoRound(isFunction: boolean, until: string): string {
  return `No other round is ever taken in its place. ${
    isFunction
      ? "If it does not come before the function times out on chain, the request fails."
      : `The service waits for it for about 24 hours, until ${until}; then the request fails.`
  }`;
}

/** Longest result that a tab has room for beside the name, and longest first part of one that is counted, in characters. */
const MAX_IN_TITLE = 30;
const MAX_FIRST = 20;
/** Beginning of a result that is read for it: one may have 24 KB. */
const MAX_READ = 1000;

/** What the page of a result is called, and what a link to it says: the same with a script, without one, and in a preview. */
export function describePage(shared: Shared | SharedRequest): {
  /** What the tab says: the state or the beginning of the result first, so that the page can be left open behind others. */
  readonly title: string;
  readonly heading: string;
  readonly subject: readonly string[];
  /** The result, what it waits for, or that there is none: in one line, uncut. */
  readonly said: string;
} {
  if ("outcome" in shared) {
    const { result, heading, subject } = describeShared(shared);
    const short = shortResultOf(shared);
    const state = short === "" ? "" : `${short} – `;
    const title = `${shared.outcome.success ? state : "Failed: "}${heading}`;
    return { title, heading, subject, said: result };
  }
  const { state, kind, why } = shared;
  const { heading, subject } = describeRequest(shared);
  if (state === "waiting") return { title: `Waiting: ${heading}`, heading, subject, said: capitalize(why) };
  // The name of one that is on no chain says that it failed.
  const title = kind === undefined ? heading : `Failed: ${heading}`;
  const hidden = kind === undefined ? " What it asked for is not public." : "";
  return { title, heading, subject, said: `${describeEnd(shared)}${hidden}` };
}

/** Returns the beginning of a result, and how much more there is; empty for an error, and for bytes that are no text. */
function shortResultOf({ outcome, shown }: Pick<Shared, "outcome" | "shown">): string {
  if (!outcome.success) return "";
  const parts = "randomNumber" in outcome ? outcome.randomNumber : shown ? partsOf(shown) : undefined;
  const line = resultOf(outcome, shown).slice(0, MAX_READ).replaceAll(/\s+/g, " ").trim();
  if (parts === undefined && !isText(line)) return "";
  if (line.length <= MAX_IN_TITLE) return line;
  const [first = "", ...others] = parts ?? [line];
  return others.length === 0
    ? cut(first, MAX_IN_TITLE)
    : `${cut(first, MAX_FIRST)} and ${others.length} more`;
}

/** Says which chain a result is on. */
export function nameChain(
  name: string,
  known: { readonly title: string; readonly embedded: boolean } | undefined,
): string {
  // The title of a local chain says that it is one.
  return known === undefined ? name : `${known.title}${known.embedded ? "" : " (public chain)"}`;
}

/** Returns the transaction hash from an explorer URL. */
export function transactionHashOf(url: string): string {
  return url.split("/").at(-1) ?? "";
}

/** Lists the transactions behind a result in the order of time. A preset's proof and result mostly come in one. */
export function transactionsOf(
  outcome: { readonly success: boolean; readonly url: string } & (
    | { readonly randomNumber: unknown }
    | { readonly vrfv2Hash?: string }
  ),
): readonly { readonly name: string; readonly hash: string }[] {
  const hash = transactionHashOf(outcome.url);
  if ("randomNumber" in outcome) return [{ name: "Proof in", hash }];
  const ended = outcome.success ? "result" : "error";
  const name = `${capitalize(ended)} in`;
  if (outcome.vrfv2Hash === undefined) return [{ name, hash }];
  if (outcome.vrfv2Hash === hash) return [{ name: `Proof and ${ended} in`, hash }];
  return [
    { name: "Proof in", hash: outcome.vrfv2Hash },
    { name, hash },
  ];
}

/** Writes a parameter's value in one line. */
export function valueText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Names a shared result. All of it is text of its caller's choice, or of its preset's author. */
export function describeShared({ preset, title, givenLabel, params = {}, shown, outcome }: Shared): {
  /** What it is for, as its caller said; otherwise what it is. */
  readonly heading: string;
  /** What it is, unless the heading says so, and how many were drawn of how many. */
  readonly subject: readonly string[];
  /** The result in one line, uncut. */
  readonly result: string;
} {
  const label = spelledLabel({ label: outcome.label, givenLabel });
  const isRandom = "randomNumber" in outcome;
  const kind = isRandom ? "random" : preset === undefined ? "function" : "preset";
  const what = isRandom
    ? countOf(outcome.randomNumber.length, "random number")
    : nameKind({ kind, ...(title === undefined ? {} : { title }) });
  const [list, ...others] = Object.values(params).filter((value) => Array.isArray(value));
  const extent =
    shown?.as === "list" && list !== undefined && others.length === 0
      ? `${shown.entries.length} of ${countEntries(list)}`
      : undefined;
  // Arguments may be many: they stand below the heading.
  const isUnnamed = kind === "function" && (what === NAMELESS || what.startsWith(BY_ARGUMENTS));
  const unnamed = outcome.success ? "Function result" : "Function";
  const heading = label ?? (isUnnamed ? unnamed : what);
  const isSaid = label === undefined && (!isUnnamed || what === NAMELESS);
  const subject = [isSaid ? undefined : what, extent].filter((text) => text !== undefined);
  return { heading, subject, result: resultOf(outcome, shown) };
}

function resultOf(outcome: Shared["outcome"], shown: Shown | undefined): string {
  if ("randomNumber" in outcome) return outcome.randomNumber.join(", ");
  if (!outcome.success) return outcome.err;
  return shown === undefined ? outcome.parsedResult : lineOf(shown);
}

/** Writes a preset's result in one line. */
export function lineOf(shown: Shown): string {
  return partsOf(shown).join(", ");
}

/** Returns what a preset's result consists of: a side of a coin, rolls of dice, or entries of a list. */
export function partsOf(shown: Shown): readonly string[] {
  if (shown.as === "coin") return [shown.side];
  return shown.as === "dice" ? shown.rolls : shown.entries;
}

/** "1 entry", "6 entries". */
export function countEntries(list: readonly unknown[]): string {
  return countOf(list.length, "entry", "entries");
}

/** Longest result that is shown large: a uint256 in decimal. */
const MAX_LARGE_CHARACTERS = 78;

/** Returns the class of an element that shows a result: large if it is short, as running text if it is long. */
export function resultClass(text: string): string {
  return text.length > MAX_LARGE_CHARACTERS ? "big-result long" : "big-result";
}
