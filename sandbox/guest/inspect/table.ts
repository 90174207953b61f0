import { inspect } from "./inspect.ts";
import { isMap, isSet } from "../types.ts";
import { textWidth } from "./quote.ts";

/** How a table looks. */
interface TableStyle {
  readonly cell: (value: unknown) => string;
  /** Titles of the first column: of an object's keys, and of an iterator's places. */
  readonly index: string;
  readonly iteration: string;
  /** Whether it is Node's: numbers stand on the left too, and what is in a set has one cell. */
  readonly isNode: boolean;
  /** What an iterator has left. */
  readonly items?: readonly unknown[] | undefined;
}
function denoStyle(): TableStyle {
  const options = {
    depth: 1,
    compact: true,
    breakLength: Number.POSITIVE_INFINITY,
    circular: new Map<unknown, number>(),
  };
  return { cell: (value) => inspect(value, options), index: "idx", iteration: "iter idx", isNode: false };
}

/**
 * Returns the text of `console.table`; undefined for a primitive value, which is printed as it is.
 * @throws {Error} If `properties` isn't an array.
 */
export function tableText(
  data: unknown,
  properties?: unknown,
  { cell, index, iteration, isNode, items: given }: TableStyle = denoStyle(),
): string | undefined {
  if (properties !== undefined && !Array.isArray(properties)) {
    throw new Error(`The 'properties' argument must be of type Array: received type ${typeof properties}`);
  }
  if (typeof data !== "object" || data === null) return undefined;
  const items = given ?? (isNode && isSet(data) ? [...(data as Iterable<unknown>)] : undefined);
  // Node prints all of a map or set.
  const isWhole = items !== undefined || (isNode && isMap(data));
  const chosen = isWhole ? undefined : properties?.map(String);
  const isIterated =
    isWhole ||
    (!isNode &&
      !Array.isArray(data) &&
      (isMap(data) || isSet(data) || typeof (data as Iterable<unknown>)[Symbol.iterator] === "function"));
  const rows = isIterated
    ? [...(items ?? (data as Iterable<unknown>))].map((row, at) => [String(at), row] as const)
    : Object.keys(data).map((key) => [key, (data as Record<string, unknown>)[key]] as const);
  const columns = new Map<string, string[]>(chosen?.map((name) => [name, []]));
  const values: string[] = [];
  const keys: string[] = [];
  const hasKeys = isMap(data) && chosen === undefined && (isNode || rows.length > 0);
  let hasValues = isWhole;
  rows.forEach(([, row], at) => {
    if (items !== undefined) values[at] = cell(row);
    else if (hasKeys) {
      const [key, value] = row as [unknown, unknown];
      keys[at] = cell(key);
      values[at] = cell(value);
      hasValues = true;
    } else if (row === null || (typeof row !== "function" && typeof row !== "object")) {
      values[at] = cell(row);
      hasValues = chosen === undefined;
    } else {
      const names = chosen ?? Object.keys(row);
      for (const name of names) {
        const column = columns.get(name) ?? [];
        columns.set(name, column);
        if (Object.hasOwn(row, name)) column[at] = cell((row as Record<string, unknown>)[name]);
      }
    }
  });
  // The order of an object's keys: indices first.
  const names = Object.keys(Object.fromEntries(columns));
  const head = [`(${isIterated ? iteration : index})`, ...(hasKeys ? ["Key"] : []), ...names];
  const body: string[][] = [
    rows.map(([key]) => key),
    ...(hasKeys ? [keys] : []),
    ...names.map((name) => columns.get(name) as string[]),
  ];
  if (hasValues) {
    head.push("Values");
    body.push(values);
  }
  return drawTable(head, body, rows.length, isNode);
}

function drawTable(
  head: readonly string[],
  columns: readonly (readonly string[])[],
  rows: number,
  isNode: boolean,
): string {
  const widths = head.map((title, at) =>
    Math.max(
      textWidth(title),
      ...Array.from({ length: rows }, (_, row) => textWidth(columns[at]?.[row] ?? "")),
    ),
  );
  const toRight = columns.map(
    (column) =>
      !isNode &&
      Array.from({ length: rows }, (_, row) => column[row] ?? "").every((text) => Number.isInteger(+text)),
  );
  const line = (left: string, middle: string, right: string): string =>
    `${left}${widths.map((width) => "─".repeat(width + 2)).join(middle)}${right}`;
  const row = (cells: readonly string[], align: boolean): string =>
    `│ ${cells
      .map((text, at) => {
        const space = " ".repeat((widths[at] as number) - textWidth(text));
        return align && toRight[at] ? space + text : text + space;
      })
      .join(" │ ")} │`;
  return [
    line("┌", "┬", "┐"),
    row(head, false),
    line("├", "┼", "┤"),
    ...Array.from({ length: rows }, (_, at) =>
      row(
        columns.map((column) => column[at] ?? ""),
        true,
      ),
    ),
    line("└", "┴", "┘"),
  ].join("\n");
}
