/** Colours of the terminal by name: the codes that begin and end them, as in `util.inspect.colors`. */
export const COLORS: Record<string, readonly [number, number]> = {};
const hues = "black red green yellow blue magenta cyan white".split(" ");
const add = (names: readonly string[], first: number, end: number): void =>
  names.forEach((name, at) => (COLORS[name] = [first + at, end]));
const behind = (names: readonly string[]): string[] =>
  names.map((name) => `bg${name.charAt(0).toUpperCase()}${name.slice(1)}`);
const bright = hues.slice(1).map((hue) => `${hue}Bright`);
// The codes are 0 to 8, but for 6.
const ENDS = { reset: 0, bold: 22, dim: 22, italic: 23, underline: 24, blink: 25, inverse: 27, hidden: 28 };
for (const [at, [name, end]] of Object.entries(ENDS).entries()) COLORS[name] = [at > 5 ? at + 1 : at, end];
Object.assign(COLORS, { strikethrough: [9, 29], doubleunderline: [21, 24] });
add(hues, 30, 39);
add(behind(hues), 40, 49);
Object.assign(COLORS, { framed: [51, 54], overlined: [53, 55] });
add(["gray", ...bright], 90, 39);
add(["bgGray", ...behind(bright)], 100, 49);
const ALIASES =
  "gray=grey gray=blackBright bgGray=bgGrey bgGray=bgBlackBright dim=faint strikethrough=crossedout strikethrough=strikeThrough strikethrough=crossedOut hidden=conceal inverse=swapColors inverse=swapcolors doubleunderline=doubleUnderline";
for (const [name = "", other = ""] of ALIASES.split(" ").map((pair) => pair.split("=")))
  Object.defineProperty(COLORS, other, {
    get: () => COLORS[name],
    set: (value: readonly [number, number]) => {
      COLORS[name] = value;
    },
    configurable: true,
  });

/** Colours by kind of value, as in `util.inspect.styles`. */
export const STYLES: Record<string, string> = {
  __proto__: null as never,
  special: "cyan",
  number: "yellow",
  bigint: "yellow",
  boolean: "yellow",
  undefined: "grey",
  null: "bold",
  string: "green",
  symbol: "green",
  date: "magenta",
  regexp: "red",
  module: "underline",
};

/** Leaves a text as it is. */
// eslint-disable-next-line func-style -- named as sources see it
export const stylizeNoColor = (text: string): string => text;

/** Gives a text the colour of its kind. */
export function stylizeWithColor(text: string, style: string): string {
  const [begin, end] = COLORS[STYLES[style] ?? ""] ?? [];
  return begin === undefined ? text : `\u001b[${begin}m${text}\u001b[${end}m`;
}
