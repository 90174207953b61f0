/** How pages and the previews of links to them name a shared result. */
import { cut } from "./cut.ts";
import { findSourceHosts } from "./sourceHosts.ts";

/** A preset's result in parts, as its preset says. */
type Shown =
  | { readonly as: "coin"; readonly side: string }
  | { readonly as: "dice"; readonly rolls: readonly string[] }
  | { readonly as: "list"; readonly entries: readonly string[] };

/** Names a request by what it asks for. */
function nameKind({ kind, title }: { readonly kind: Kind; readonly title?: string }): string {
  return title ?? { preset: "A preset", random: "Random numbers", function: "A function" }[kind];
}

/** How the name of a function begins whose source has neither a comment nor a host to name it. */
const BY_ARGUMENTS = "Function of ";

/** Longest name of a function, in characters. */
const MAX_NAME = 80;

/**
 * Names a function by what its source says first in a comment, by the hosts that it names, or by its arguments; `undefined` where there is none
 * of them. The name says that it is a function: its author could give it a preset's title.
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
  return args.length === 0 ? undefined : cut(`${BY_ARGUMENTS}${args.join(", ")}`, MAX_NAME);
}

/** Returns the first line with words of the comments before a source's first code. */
function findComment(source: string): string | undefined {
  const [comments = ""] = /^(?:\s|\/\/.*|\/\*[\s\S]*?\*\/)*/.exec(source) ?? [];
  const lines = comments.split("\n").map((line) => line.replace(/^[\s/*]+/, "").replace(/\*\/.*$/, ""));
  return lines.find((line) => /[\p{L}\p{N}]/u.test(line))?.trim();
}

type Kind = "preset" | "random" | "function";

/** Names a request that has no result yet, or will have none, as {@link describeShared} names a result. */
export function describeRequest(request: {
  readonly state: "waiting" | "failed";
  /** Absent before it is on chain, as all that it asks for. */
  readonly kind?: Kind;
  readonly title?: string;
  readonly label?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}): { readonly heading: string; readonly subject: readonly string[] } {
  const { state, kind, title, label, params = {} } = request;
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
  readonly params?: Readonly<Record<string, unknown>>;
  readonly shown?: Shown;
  readonly outcome: { readonly success: boolean; readonly label?: string } & (
    | { readonly randomNumber: readonly string[] }
    | { readonly parsedResult: string; readonly err: string }
  );
}

/** Names a shared result. All of it is text of its caller's choice, or of its preset's author. */
export function describeShared({ preset, title, params = {}, shown, outcome }: Shared): {
  /** What it is for, as its caller said; otherwise what it is. */
  readonly heading: string;
  /** What it is, unless the heading says so, and how many were drawn of how many. */
  readonly subject: readonly string[];
  /** The result in one line, uncut. */
  readonly result: string;
} {
  const { label } = outcome;
  const isRandom = "randomNumber" in outcome;
  const kind = isRandom ? "random" : preset === undefined ? "function" : "preset";
  const what = nameKind({ kind, ...(title === undefined ? {} : { title }) });
  const [list, ...others] = Object.values(params).filter((value) => Array.isArray(value));
  const extent = isRandom
    ? countOf(outcome.randomNumber, "random number", "random numbers")
    : shown?.as === "list" && list !== undefined && others.length === 0
      ? `${shown.entries.length} of ${countEntries(list)}`
      : undefined;
  // Where it is the heading, arguments are listed below it.
  const isUnnamed = kind === "function" && (title === undefined || title.startsWith(BY_ARGUMENTS));
  const unnamed = outcome.success ? "Function result" : "Function that failed";
  // How many random numbers there are says what they are.
  const isNamed = label === undefined || isRandom;
  const subject = [isNamed ? undefined : what, extent].filter((text) => text !== undefined);
  return { heading: label ?? (isUnnamed ? unnamed : what), subject, result: resultOf(outcome, shown) };
}

function resultOf(outcome: Shared["outcome"], shown: Shown | undefined): string {
  if ("randomNumber" in outcome) return outcome.randomNumber.join(", ");
  if (!outcome.success) return outcome.err;
  return shown === undefined ? outcome.parsedResult : lineOf(shown);
}

/** Writes a preset's result in one line. */
export function lineOf(shown: Shown): string {
  if (shown.as === "coin") return shown.side;
  return (shown.as === "dice" ? shown.rolls : shown.entries).join(", ");
}

/** "1 entry", "6 entries". */
export function countEntries(list: readonly unknown[]): string {
  return countOf(list, "entry", "entries");
}

function countOf({ length }: readonly unknown[], one: string, many: string): string {
  return `${length} ${length === 1 ? one : many}`;
}
