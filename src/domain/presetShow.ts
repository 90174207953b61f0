/** How the text of a preset's result is read, as its `preset.json` says: as a value for programs, and as parts that are shown to people. */
export type PresetShow =
  /** The result is 0 or 1, which stand for these sides. */
  | { readonly as: "coin"; readonly sides: readonly [string, string] }
  /** The result is a list of whole numbers, `[3,17]`. `faces` is the parameter with the number of faces of each die. */
  | { readonly as: "dice"; readonly faces?: string }
  /**
   * The result is `before`, then entries separated by `separator`; `count` is the parameter with the number of entries, `from` the list
   * that they are drawn from without replacement.
   */
  | {
      readonly as: "list";
      readonly before?: string;
      readonly separator: string;
      readonly count?: string;
      readonly from?: string;
    };

type Params = Readonly<Record<string, unknown>>;

/** A result as a value for programs: a coin's side, a text, or the entries of a list. */
type Value = boolean | string | readonly (number | string)[];

/** A result in parts for display. */
export type ShownParts =
  | { readonly as: "coin"; readonly side: string; readonly index: 0 | 1 }
  | { readonly as: "dice"; readonly rolls: readonly string[]; readonly hasPips: boolean }
  | { readonly as: "list"; readonly entries: readonly string[] };

/** Dice with more faces have no familiar pips. */
const MAX_PIPS = 6;
const NUMBERS = /^\[\d+(?:,\d+)*\]$/;
/** Most parts of a text that are looked up in the list they may come from, so that no caller's list can make that slow. */
const MAX_STEPS = 20_000;

/**
 * Reads the text of a result as its preset says; without `show`, the text itself is the value. Returns `undefined` if the text doesn't
 * have that form, or if its entries contain the separator and could be separated in several ways.
 *
 * @param params the request's parameters.
 */
export function readValue(
  show: PresetShow | undefined,
  parsedResult: string,
  params: Params,
): Value | undefined {
  switch (show?.as) {
    case undefined:
      return parsedResult;
    case "coin":
      return parsedResult === "1" || (parsedResult === "0" ? false : undefined);
    case "dice":
      return NUMBERS.test(parsedResult) ? parsedResult.slice(1, -1).split(",").map(toNumber) : undefined;
    case "list": {
      const { before = "", separator, count, from } = show;
      if (!parsedResult.startsWith(before)) return undefined;
      const text = parsedResult.slice(before.length);
      const wanted = count === undefined ? undefined : Number(params[count] ?? Number.NaN);
      if (from !== undefined) return splitTickets(text, separator, { tickets: params[from], count: wanted });
      const entries = text.split(separator);
      return wanted === undefined || entries.length === wanted ? entries : undefined;
    }
  }
}

/** Splits a value into parts for display as its preset says; `undefined` if the preset says nothing, or the value has another form. */
export function takeApart(
  show: PresetShow | undefined,
  value: unknown,
  params: Params,
): ShownParts | undefined {
  if (show?.as === "coin") {
    if (typeof value !== "boolean") return undefined;
    const index = value ? 1 : 0;
    return { as: "coin", side: show.sides[index], index };
  }
  if (show === undefined || !Array.isArray(value)) return undefined;
  const entries = value.map(String);
  if (show.as === "list") return { as: "list", entries };
  const faces = show.faces === undefined ? undefined : params[show.faces];
  const hasPips =
    faces !== undefined && Number(faces) <= MAX_PIPS && entries.every((roll) => /^[1-6]$/.test(roll));
  return { as: "dice", rolls: entries, hasPips };
}

function toNumber(digits: string): number | string {
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : digits;
}

/** Finds the only way to split `text` into `count` of the tickets, each used at most once; `undefined` if there are several, or none. */
function splitTickets(
  text: string,
  separator: string,
  { tickets, count }: { readonly tickets: unknown; readonly count: number | undefined },
): readonly string[] | undefined {
  if (!Array.isArray(tickets)) return undefined;
  const left = new Map<string, number>();
  let longest = 0;
  for (const ticket of tickets as readonly string[]) {
    left.set(ticket, (left.get(ticket) ?? 0) + 1);
    longest = Math.max(longest, ticket.length);
  }
  const entries: string[] = [];
  const found: (readonly string[])[] = [];
  let steps = 0;
  const search = (start: number): void => {
    for (let from = start; from !== -1 && found.length < 2 && steps <= MAX_STEPS; steps += 1) {
      const end = text.indexOf(separator, from);
      if ((end === -1 ? text.length : end) - start > longest) return;
      const entry = end === -1 ? text.slice(start) : text.slice(start, end);
      const available = left.get(entry) ?? 0;
      if (available > 0) {
        left.set(entry, available - 1);
        entries.push(entry);
        if (end !== -1) search(end + separator.length);
        else if (count === undefined || entries.length === count) found.push([...entries]);
        entries.pop();
        left.set(entry, available);
      }
      from = end === -1 ? -1 : end + 1;
    }
  };
  search(0);
  return found.length === 1 && steps <= MAX_STEPS ? found[0] : undefined;
}
