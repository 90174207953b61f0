import { nameCharacter, splitAtHidden } from "../lib/hiddenCharacters.ts";

/** Most characters of a label. */
export const MAX_LABEL_CHARACTERS = 100;
/**
 * Most UTF-16 code units in which a label may be written: four for each character, as accents may stand apart. Normalising takes a time
 * that grows with the square of the number of accents: that of 40,000 takes 18 s.
 */
const MAX_WRITTEN = 4 * MAX_LABEL_CHARACTERS;

/**
 * Returns the one form of a label that stands for all that look like it: compatibility characters are replaced (NFKC), upper and lower case
 * are the same letter by letter (`straße` is not `STRASSE`), and so are white space, however much, and the ways to draw a picture (U+FE0E and
 * U+FE0F). Letters of different alphabets that look alike stay different.
 */
export function canonicalLabel(label: string): string {
  const plain = label.replaceAll(/[\ufe0e\ufe0f]/g, "");
  // Some lower-case letters are not normalised.
  return plain.normalize("NFKC").toLowerCase().normalize("NFKC").replaceAll(/\s+/gu, " ").trim();
}

/** Returns a label as its caller spelled it, if that reads as what is on chain: nobody is shown what wasn't fixed there. */
export function spelledLabel({ label, givenLabel }: Spelled): string | undefined {
  return givenLabel !== undefined && canonicalLabel(givenLabel) === label ? givenLabel : label;
}

/** Returns the member that says how a label was spelled, where it is known. */
export function spellingOf({ givenLabel }: Pick<Spelled, "givenLabel">): { readonly givenLabel?: string } {
  return givenLabel === undefined ? {} : { givenLabel };
}

interface Spelled {
  /** As it is on chain. */
  readonly label?: string | undefined;
  readonly givenLabel?: string | undefined;
}

/** Quotes a label, and says how it is read where that differs from how it was given. */
export function nameLabel(label: string): string {
  const read = canonicalLabel(label);
  return read === label
    ? JSON.stringify(label)
    : `${JSON.stringify(label)}, read as ${JSON.stringify(read)},`;
}

/** Returns what is wrong with a label, if anything is. */
export function findLabelProblem(label: string): string | undefined {
  if (label.length > MAX_WRITTEN)
    return `must have 1 to ${MAX_LABEL_CHARACTERS} characters; got ${label.length} UTF-16 code units`;
  const [, hidden = nameTextBreak(label)] = splitAtHidden(label);
  if (hidden !== undefined) return `must not have characters that nobody sees, such as ${hidden}`;
  const characters = Array.from(canonicalLabel(label)).length;
  return characters >= 1 && characters <= MAX_LABEL_CHARACTERS
    ? undefined
    : `must have 1 to ${MAX_LABEL_CHARACTERS} characters; got ${characters}`;
}

/** Names the first tab or line feed, which other texts may have; `undefined` if there is none. */
function nameTextBreak(label: string): string | undefined {
  const [found] = /[\t\n]/.exec(label) ?? [];
  return found === undefined ? undefined : nameCharacter(found);
}

/** A request's label as a verification found it. */
interface FoundLabel {
  readonly dapp: string;
  readonly label: string;
  readonly draw: number;
  readonly draws: readonly { readonly transactionHash: string; readonly blockNumber: string }[];
  readonly searched: {
    readonly from: string;
    readonly to: string;
    readonly codeFrom: string | null;
    readonly omits: boolean;
    readonly isWhole: boolean;
    readonly provenFrom: string | null;
  };
}

/**
 * Whether block hashes show that no request before the one that was verified is left out, as far as the contract had code, by the node's
 * word: otherwise it may not be the first.
 */
export function isProven({
  codeFrom,
  provenFrom,
}: Pick<FoundLabel["searched"], "codeFrom" | "provenFrom">): boolean {
  return provenFrom !== null && BigInt(provenFrom) <= BigInt(codeFrom ?? 0);
}

/** Other requests that are named. */
const MAX_NAMED = 5;
const ORDINALS = ["first", "second", "third"];

/** Says in plain words whether a request of this kind is known to be the only one with its label; {@link describeLabel} says how that is known. */
export function describeDraws(found: FoundLabel, kind: string): string {
  const { draw, draws, searched } = found;
  const noun = kind === "function" ? "request" : "draw";
  const isUnread = BigInt(searched.from) > BigInt(searched.to);
  const known = searched.isWhole
    ? "that this node knows"
    : isUnread
      ? "that is known: no block was searched"
      : "in the blocks that were searched";
  if (draws.length === 1) return `The only ${noun} with this label ${known}.`;
  const place = ORDINALS[draw - 1] ?? `number ${draw}`;
  const others = draws.length === 2 ? "the other is" : "the others are";
  return `${draws.length} ${noun}s bear this label${isUnread ? "" : `, of those ${known}`}; this is the ${place}, ${others} in ${nameOthers(found)}.`;
}

/** Names the transactions of the other draws with a label. */
function nameOthers({ draw, draws }: FoundLabel): string {
  const others = draws.filter((_, i) => i !== draw - 1).map(({ transactionHash }) => transactionHash);
  const more = others.length > MAX_NAMED ? `, and ${others.length - MAX_NAMED} more` : "";
  return `${others.slice(0, MAX_NAMED).join(", ")}${more}`;
}

/** Says in one sentence what a request is for, and whether it is known to be the only one. */
export function describeLabel(found: FoundLabel | null): string {
  if (found === null)
    return "The request has no label, so the chain does not show whether it is the only one, or one that was picked from many.";
  const { dapp, label, draw, draws, searched } = found;
  const { from, to, codeFrom, omits, isWhole, provenFrom } = searched;
  const own = BigInt(draws[draw - 1]!.blockNumber);
  const isUnread = BigInt(from) > BigInt(to);
  const isFirst = isProven(searched);
  const isAmong = BigInt(from) <= own && own <= BigInt(to);
  const part = isUnread
    ? "of those that are known, "
    : isWhole
      ? "of those that the node lists, "
      : `of those in blocks ${from} to ${to}${isAmong ? "" : ` and ${own}`}, `;
  const only =
    isWhole && isFirst
      ? "the dapp's first request with this label, and the only one that the node lists"
      : `${part}no other has this label`;
  const rank =
    draws.length === 1
      ? only
      : `${isWhole && isFirst ? "" : part}request ${draw} of ${draws.length} with this label, the others: ${nameOthers(found)}`;
  const unknown =
    codeFrom === null
      ? ", and the node doesn't show that the contract had no code before its deployment"
      : "";
  const extent = isWhole
    ? `blocks ${from} to ${to}${from === "0" ? "" : "; before, the contract had no code, says the node"}`
    : isUnread
      ? `no block was searched${unknown}`
      : omits
        ? "not all requests in them may be listed"
        : `other blocks were not searched${unknown}`;
  const proven =
    provenFrom === null
      ? "that none is left out is the node's word"
      : `block hashes show that none is left out in ${provenFrom} to ${own}`;
  return `${JSON.stringify(label)} of ${dapp}: ${rank} (${extent}; ${proven}).`;
}
