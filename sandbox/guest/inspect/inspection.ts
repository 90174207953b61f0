import type { PromiseState } from "../promises.ts";
import type { ProxyParts } from "../proxies.ts";
import type { Layout } from "./layout.ts";

/** What is asked of proxies and promises; set by each chunk that inspects. */
export const proxies: {
  partsOf(value: object): ProxyParts | undefined;
  stateOf(promise: object): PromiseState | undefined;
} = { partsOf: () => undefined, stateOf: () => undefined };

/** Options of `Deno.inspect` that matter without a terminal. */
export interface InspectOptions {
  /** Levels of nesting to show; `null` or `Infinity` shows all. Default 4. */
  depth?: number | null;
  /** Entries of a list, map or set to show; null shows all. Default 100. */
  iterableLimit?: number;
  /** Entries of a list to show, for Node's `inspect`; `maxArrayLength` counts only without an `iterableLimit`. */
  listLimit?: number;
  maxArrayLength?: number | null;
  /** Characters of a string to show; null shows all. Default 10,000. */
  strAbbreviateSize?: number | null;
  /** The same by Node's name. */
  maxStringLength?: number | null;
  /** Numbers of the objects that contain themselves, which the arguments of a call share. */
  circular?: Map<unknown, number>;
  /** The objects that contain what is inspected, and how far it is indented in them. */
  seen?: readonly unknown[];
  indentationLvl?: number;
  /** Target line length. Default 80. */
  breakLength?: number;
  /** See `Layout.compact`. Default 3. */
  compact?: boolean | number;
  sorted?: boolean | ((a: string, b: string) => number);
  getters?: boolean | "get" | "set";
  showHidden?: boolean;
  /** Whether a proxy is shown as such, with its handler. Default: as its target. */
  showProxy?: unknown;
  trailingComma?: boolean;
  customInspect?: boolean;
  /** Whether texts have the colours of their kinds. */
  colors?: boolean;
  /** Whether control characters in strings are escaped. Default true. */
  escapeSequences?: boolean;
  /** Gives a text the colour of its kind. Default: none. */
  stylize?: (text: string, style: string) => string;
  /** Whether digits are in groups of three. */
  numericSeparator?: boolean;
  /** What Node's `inspect` was given, which an object's own method sees. */
  given?: object;
  /** Quotes, in order of preference. Default `"`, `'`, `` ` ``. */
  quotes?: readonly string[];
}

/** An inspection in progress. */
export interface Inspection extends Layout {
  readonly options: InspectOptions;
  readonly depth: number;
  readonly maxStringLength: number;
  /** Entries of a map or set to show. */
  readonly collectionLimit: number;
  /** What an object's own method may call; has the options of Node's. */
  readonly inspect: (value: unknown, options?: never) => string;
  readonly quotes: readonly string[];
  readonly stylize: (text: string, style: string) => string;
  readonly customInspect: boolean;
  readonly escapeSequences: boolean;
  readonly showHidden: boolean;
  readonly seen: unknown[];
  circular: Map<unknown, number> | undefined;
  /** Formats a value inside this one, `depth` levels below the outermost. */
  readonly format: (state: Inspection, value: unknown, depth: number) => string;
}
