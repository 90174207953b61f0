/** How a preset's result is shown to people, as its `preset.json` says; programs get `parsedResult` regardless. */
export type PresetShow =
  /** The result is 0 or 1, which stand for these sides. */
  | { readonly as: "coin"; readonly sides: readonly [string, string] }
  /** The result is a list of whole numbers, `[3,17]`. `faces` is the parameter with the number of faces of each die. */
  | { readonly as: "dice"; readonly faces?: string }
  /** The result is `before`, then entries separated by `separator`; `count` is the parameter with the number of entries. */
  | {
      readonly as: "list";
      readonly before?: string;
      readonly separator: string;
      readonly count?: string;
    };

/** A parsed result. */
export type ShownResult =
  | { readonly as: "coin"; readonly side: string; readonly index: 0 | 1 }
  | { readonly as: "dice"; readonly rolls: readonly string[]; readonly hasPips: boolean }
  | { readonly as: "list"; readonly entries: readonly string[] };

/** Dice with more faces have no familiar pips. */
const MAX_PIPS = 6;
const NUMBERS = /^\[\d+(?:,\d+)*\]$/;

const isPips = (roll: string): boolean => /^[1-6]$/.test(roll);

/**
 * Parses a result as its preset says; `undefined` if it doesn't have that form. A list's entries may contain the separator, so if the
 * preset names `count`, the result is a list only if that parameter is known and equals the number of entries.
 *
 * @param params the request's parameters; empty if they were deleted.
 */
export function takeApart(
  show: PresetShow,
  parsedResult: string,
  params: Readonly<Record<string, unknown>>,
): ShownResult | undefined {
  switch (show.as) {
    case "coin": {
      const index = ["0", "1"].indexOf(parsedResult) as -1 | 0 | 1;
      return index === -1 ? undefined : { as: "coin", side: show.sides[index], index };
    }
    case "dice": {
      if (!NUMBERS.test(parsedResult)) return undefined;
      const rolls = parsedResult.slice(1, -1).split(",");
      const faces = show.faces === undefined ? undefined : params[show.faces];
      const hasPips = faces !== undefined && Number(faces) <= MAX_PIPS && rolls.every(isPips);
      return { as: "dice", rolls, hasPips };
    }
    case "list": {
      const { before = "", separator, count } = show;
      if (!parsedResult.startsWith(before)) return undefined;
      const entries = parsedResult.slice(before.length).split(separator);
      const isWhole = count === undefined || entries.length === Number(params[count] ?? Number.NaN);
      return isWhole ? { as: "list", entries } : undefined;
    }
  }
}
