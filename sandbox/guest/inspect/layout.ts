import { textWidth } from "./quote.ts";

const CODES = /\p{Cc}\[\d\d?m/gu;
/** Removes the codes of colours, which take no room. */
/** Removes the codes of colours. */
export const withoutCodes = (text: string): string =>
  text.includes("\u001b") ? text.replace(CODES, "") : text;

/** The inspection state that the layout depends on. */
export interface Layout {
  readonly breakLength: number;
  /** True: one line if it fits; a number: how many inner levels may share a line; false: one line per entry. */
  readonly compact: boolean | number;
  readonly iterableLimit: number;
  readonly trailingComma: boolean;
  /** Depth of the deepest value formatted so far. */
  currentDepth: number;
  /** Spaces at the start of each line inside the current value. */
  indentation: number;
}

/** The entries of a value, to be joined between braces. */
export interface Entries {
  readonly entries: readonly string[];
  /** Text before the brace, e.g. a function's; may be empty. */
  readonly base: string;
  readonly braces: readonly [string, string];
  /** The value itself if it is a list, whose short entries are laid out in columns. */
  readonly list?: { readonly [index: number]: unknown };
  readonly depth: number;
}

/**
 * Joins the entries of one value: on one line if the innermost levels fit into `breakLength`, otherwise one line each.
 * Follows the rules of Node's and Deno's `inspect`.
 */
export function joinEntries(layout: Layout, { entries: given, base, braces, list, depth }: Entries): string {
  const { compact, breakLength, trailingComma } = layout;
  const [open, close] = braces;
  const indent = `\n${" ".repeat(layout.indentation)}`;
  const prefix = base === "" ? "" : `${base} `;
  if (compact === true) {
    if (fits(given, 0, base, breakLength))
      return `${open}${base === "" ? "" : ` ${base}`} ${given.join(", ")} ${close}`;
    const first = base === "" && open.length === 1 ? " " : `${base === "" ? "" : ` ${base}`}${indent}  `;
    return `${open}${first}${given.join(`,${indent}  `)} ${close}`;
  }
  let entries = given;
  if (typeof compact === "number" && compact >= 1) {
    if (list !== undefined && given.length > 6) entries = groupIntoColumns(layout, given, list, compact);
    if (layout.currentDepth - depth < compact && entries.length === given.length) {
      const start = entries.length + layout.indentation + open.length + base.length + 10;
      if (fits(entries, start, base, breakLength)) {
        const joined = entries.join(", ");
        if (!joined.includes("\n")) return `${prefix}${open} ${joined} ${close}`;
      }
    }
  }
  return `${prefix}${open}${indent}  ${entries.join(`,${indent}  `)}${trailingComma ? "," : ""}${indent}${close}`;
}

function fits(entries: readonly string[], start: number, base: string, breakLength: number): boolean {
  let total = entries.length + start;
  if (total + entries.length > breakLength) return false;
  for (const entry of entries) {
    total += withoutCodes(entry).length;
    if (total > breakLength) return false;
  }
  return !base.includes("\n");
}

/** Arranges many short entries in columns: numbers right-aligned, everything else left-aligned. */
function groupIntoColumns(
  layout: Layout,
  entries: readonly string[],
  list: { readonly [index: number]: unknown },
  compact: number,
): readonly string[] {
  const hasMore = layout.iterableLimit < entries.length;
  const count = hasMore ? entries.length - 1 : entries.length;
  const SEPARATOR = 2;
  const widths = entries.slice(0, count).map((entry) => textWidth(withoutCodes(entry)));
  const widest = Math.max(0, ...widths);
  const total = widths.reduce((sum, width) => sum + width + SEPARATOR, 0);
  const cell = widest + SEPARATOR;
  if (cell * 3 + layout.indentation >= layout.breakLength || !(total / cell > 5 || widest <= 6))
    return entries;
  const bias = Math.sqrt(cell - total / entries.length);
  const biasedWidth = Math.max(cell - 3 - bias, 1);
  const CHARACTER_HEIGHTS = 2.5;
  const columns = Math.min(
    Math.round(Math.sqrt(CHARACTER_HEIGHTS * biasedWidth * count) / biasedWidth),
    Math.floor((layout.breakLength - layout.indentation) / cell),
    compact * 4,
    15,
  );
  if (columns <= 1) return entries;
  const columnWidths = Array.from({ length: columns }, (_, column) => {
    let width = 0;
    for (let at = column; at < count; at += columns) width = Math.max(width, widths[at] as number);
    return width + SEPARATOR;
  });
  const toRight = entries.every((_, at) => typeof list[at] === "number" || typeof list[at] === "bigint");
  const lines: string[] = [];
  for (let start = 0; start < count; start += columns) {
    const end = Math.min(start + columns, count);
    let line = "";
    for (let at = start; at < end; at++) {
      const entry = entries[at] as string;
      const isLast = at === end - 1;
      const text = isLast ? entry : `${entry}, `;
      const space = (columnWidths[at - start] as number) + entry.length - (widths[at] as number);
      if (toRight) line += text.padStart(isLast ? space - SEPARATOR : space);
      else line += isLast ? text : text.padEnd(space);
    }
    lines.push(line);
  }
  if (hasMore) lines.push(entries[count] as string);
  return lines;
}
