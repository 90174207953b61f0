import type { Layout } from "./layout.ts";

/** Options of `Deno.inspect` that make a difference without a terminal. */
export interface InspectOptions {
  /** Levels of nesting that are shown; `null` or `Infinity` shows all. Default 4. */
  depth?: number | null;
  /** Entries of a list, map or set that are shown. Default 100. */
  iterableLimit?: number;
  /** Characters of a string inside an object that are shown. Default 10,000. */
  strAbbreviateSize?: number;
  /** Line length that is aimed at. Default 80. */
  breakLength?: number;
  /** See `Layout.compact`. Default 3. */
  compact?: boolean | number;
  sorted?: boolean | ((a: string, b: string) => number);
  getters?: boolean;
  showHidden?: boolean;
  trailingComma?: boolean;
  customInspect?: boolean;
  /** Quotes in the order in which they are tried. Default `"`, `'`, `` ` ``. */
  quotes?: readonly string[];
}

/** An inspection under way. */
export interface Inspection extends Layout {
  readonly options: InspectOptions;
  readonly depth: number;
  readonly maxStringLength: number;
  readonly quotes: readonly string[];
  readonly customInspect: boolean;
  readonly showHidden: boolean;
  readonly seen: unknown[];
  circular: Map<unknown, number> | undefined;
  /** Formats a value inside this one. `depth`: levels below the outermost. */
  readonly format: (state: Inspection, value: unknown, depth: number) => string;
}
