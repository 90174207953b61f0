/** Quotes and escapes strings, keys and symbols as Deno prints them. */

const ESCAPES = new Map(
  Object.entries({
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
  }),
);

const hex = (text: string) => `\\x${text.charCodeAt(0).toString(16).padStart(2, "0")}`;

/** Quotes a string with the first of `quotes` that it doesn't contain, or with the first if it contains all of them. */
export function quoteString(text: string, quotes: readonly string[], escapes = true): string {
  const quote = quotes.find((candidate) => !text.includes(candidate)) ?? quotes[0] ?? '"';
  if (!escapes) return quote + text + quote;
  const escaped = text
    .replace(/[\b\f\n\r\t\v\\]/g, (found) => ESCAPES.get(found) ?? found)
    .replaceAll(quote, `\\${quote}`);
  // eslint-disable-next-line no-control-regex
  return `${quote}${escaped.replace(/[\x00-\x1f\x7f-\x9f]/g, hex)}${quote}`;
}

/** Formats a property key: bare if it looks like an identifier. */
export function quoteKey(key: string, quotes: readonly string[], escapes = true): string {
  if (key === "__proto__") return "['__proto__']";
  return /^[a-zA-Z_][a-zA-Z_0-9]*$/.test(key) ? key : quoteString(key, quotes, escapes);
}

const ESCAPED_IN_SYMBOLS: Readonly<Record<string, string>> = {
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\f": "\\f",
  "\r": "\\r",
  "'": "\\'",
  "\\": "\\\\",
};

/** Formats a symbol that is a property key. */
export function symbolKey(symbol: symbol): string {
  return Symbol.prototype.toString.call(symbol).replace(
    // eslint-disable-next-line no-control-regex
    /[\x00-\x1f'\\\x7f-\x9f]/g,
    (found) =>
      ESCAPED_IN_SYMBOLS[found] ?? `\\x${found.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
}

/** Formats a symbol as a value: its description is quoted unless it looks like an identifier, dots allowed. */
export function symbolText(symbol: symbol, quotes: readonly string[]): string {
  const { description } = symbol;
  if (description === undefined) return "Symbol()";
  return /^[a-zA-Z_][a-zA-Z_.0-9]*$/.test(description)
    ? `Symbol(${description})`
    : `Symbol(${quoteString(description, quotes)})`;
}

/** Returns the number of terminal columns of a text: East Asian wide characters and emoji take two, combining marks none. */
export function textWidth(text: string): number {
  // eslint-disable-next-line no-control-regex
  const plain = text.replace(/\u001b\[[0-9;]*m/g, "").normalize("NFC");
  let width = 0;
  for (const character of plain) {
    const point = character.codePointAt(0) as number;
    if (isWide(point)) width += 2;
    else if (!isZeroWidth(point)) width += 1;
  }
  return width;
}

function isWide(point: number): boolean {
  return (
    point >= 0x1100 &&
    (point <= 0x115f ||
      point === 0x2329 ||
      point === 0x232a ||
      (point >= 0x2e80 && point <= 0x3247 && point !== 0x303f) ||
      (point >= 0x3250 && point <= 0x4dbf) ||
      (point >= 0x4e00 && point <= 0xa4c6) ||
      (point >= 0xa960 && point <= 0xa97c) ||
      (point >= 0xac00 && point <= 0xd7a3) ||
      (point >= 0xf900 && point <= 0xfaff) ||
      (point >= 0xfe10 && point <= 0xfe19) ||
      (point >= 0xfe30 && point <= 0xfe6b) ||
      (point >= 0xff01 && point <= 0xff60) ||
      (point >= 0xffe0 && point <= 0xffe6) ||
      (point >= 0x1b000 && point <= 0x1b001) ||
      (point >= 0x1f200 && point <= 0x1f251) ||
      (point >= 0x1f300 && point <= 0x1f64f) ||
      (point >= 0x1f900 && point <= 0x1f9ff) ||
      (point >= 0x20000 && point <= 0x3fffd))
  );
}

function isZeroWidth(point: number): boolean {
  return (
    point <= 0x1f ||
    (point >= 0x7f && point <= 0x9f) ||
    (point >= 0x300 && point <= 0x36f) ||
    (point >= 0x200b && point <= 0x200f) ||
    (point >= 0x20d0 && point <= 0x20ff) ||
    (point >= 0xfe00 && point <= 0xfe0f) ||
    (point >= 0xfe20 && point <= 0xfe2f) ||
    (point >= 0xe0100 && point <= 0xe01ef)
  );
}
