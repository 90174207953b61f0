import { TycheError } from "./errors.ts";

/** A JSON value; objects have no prototype, so that no member name is special. */
export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | JsonValue[]
  | { [name: string]: JsonValue };

/** A position in a text; both numbers are 1-based, the column in UTF-16 code units. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** A parsed JSON text with the positions of its values. */
export interface JsonText {
  readonly value: unknown;
  /** Returns the position of the value at a JSON Pointer (RFC 6901), or of its nearest existing ancestor. */
  readonly positionOf: (pointer: string) => TextPosition;
}

/** Deepest nesting of arrays and objects; no parameter needs more than two levels, and recursion stays far from the stack limit. */
export const MAX_JSON_DEPTH = 32;

/**
 * Parses JSON (RFC 8259) as strictly as parameters need it. Beyond `JSON.parse` it
 * - reports the line and column of an error;
 * - refuses an object with a duplicate name, as neither value may win silently;
 * - refuses lone surrogates, which UTF-8 can't carry on to the chain;
 * - keeps whole numbers past 2^53 exact, as `bigint`;
 * - refuses nesting deeper than {@link MAX_JSON_DEPTH}.
 *
 * @param name what the text is; error messages begin with it.
 * @throws MalformedJsonError
 */
export function parseJson(text: string, name: string): JsonValue {
  return new Parser(text, name).document();
}

/**
 * Parses a JSON file like {@link parseJson} and records where each value is. Its objects are plain ones, so `__proto__` is refused, and
 * so are whole numbers past 2^53, which must be written as strings.
 *
 * @throws MalformedJsonError
 */
export function parseJsonText(text: string, name: string): JsonText {
  const offsets = new Map<string, number>();
  const value = new Parser(text, name, offsets).document();
  return {
    value,
    positionOf(pointer) {
      let known = pointer;
      while (!offsets.has(known)) known = known.slice(0, known.lastIndexOf("/"));
      return positionAt(text, offsets.get(known) ?? 0);
    },
  };
}

/** Returns the JSON Pointer (RFC 6901) of a member of the value at `parent` (default: the root). */
export function pointerTo(name: string, parent = ""): string {
  return `${parent}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** The text is not JSON in UTF-8; the message names line and column, both 1-based. */
export class MalformedJsonError extends TycheError {
  readonly problem: string;
  /** `undefined` if the bytes are not even text. */
  readonly position: TextPosition | undefined;

  constructor(name: string, problem: string, position?: TextPosition & { readonly offset: number }) {
    const place =
      position && `, at line ${position.line}, column ${position.column} (position ${position.offset})`;
    super(`${name} is not usable JSON: ${problem}${place ?? ""}`, {
      code: "malformed_json",
      blame: "caller",
    });
    this.problem = problem;
    this.position = position && { line: position.line, column: position.column };
  }
}

function positionAt(text: string, offset: number): TextPosition {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
// Runs of unescaped characters: all but the quote, the backslash and control characters.
// oxlint-disable-next-line no-control-regex
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const BLANK = /[ \t\n\r]*/y;

class Parser {
  readonly #text: string;
  readonly #name: string;
  /** Offset of each value by pointer; recorded for files only. */
  readonly #offsets: Map<string, number> | undefined;
  #at = 0;

  constructor(text: string, name: string, offsets?: Map<string, number>) {
    this.#text = text;
    this.#name = name;
    this.#offsets = offsets;
  }

  document(): JsonValue {
    this.#skipBlanks();
    const value = this.#value(0, "");
    if (this.#at < this.#text.length) this.#fail("the end of the text");
    return value;
  }

  /** Reads one value and the white space after it. */
  #value(depth: number, pointer: string): JsonValue {
    this.#offsets?.set(pointer, this.#at);
    const value = this.#bareValue(depth, pointer);
    this.#skipBlanks();
    return value;
  }

  #bareValue(depth: number, pointer: string): JsonValue {
    const first = this.#text[this.#at];
    if (first === "{" || first === "[") {
      if (depth === MAX_JSON_DEPTH) this.#fail(`at most ${MAX_JSON_DEPTH} levels of nesting`);
      return first === "{" ? this.#object(depth + 1, pointer) : this.#array(depth + 1, pointer);
    }
    if (first === '"') return this.#string();
    for (const [word, value] of WORDS) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return value;
      }
    }
    return this.#number();
  }

  #object(depth: number, pointer: string): JsonValue {
    const members: { [name: string]: JsonValue } = this.#offsets === undefined ? Object.create(null) : {};
    this.#at += 1;
    this.#skipBlanks();
    if (this.#take("}")) return members;
    for (;;) {
      const start = this.#at;
      if (this.#text[start] !== '"') this.#fail("a member name in double quotes");
      const name = this.#string();
      if (this.#offsets !== undefined && name === "__proto__")
        this.#failAt(start, 'the name "__proto__" is not allowed');
      if (Object.hasOwn(members, name))
        this.#failAt(start, `the name ${JSON.stringify(name)} appears twice in one object`);
      this.#skipBlanks();
      if (!this.#take(":")) this.#fail("a colon");
      this.#skipBlanks();
      members[name] = this.#value(depth, this.#offsets === undefined ? "" : pointerTo(name, pointer));
      if (this.#take("}")) return members;
      if (!this.#take(",")) this.#fail("a comma or a closing brace");
      this.#skipBlanks();
    }
  }

  #array(depth: number, pointer: string): JsonValue {
    const items: JsonValue[] = [];
    this.#at += 1;
    this.#skipBlanks();
    if (this.#take("]")) return items;
    for (;;) {
      items.push(this.#value(depth, this.#offsets === undefined ? "" : `${pointer}/${items.length}`));
      if (this.#take("]")) return items;
      if (!this.#take(",")) this.#fail("a comma or a closing bracket");
      this.#skipBlanks();
    }
  }

  #string(): string {
    const start = this.#at;
    this.#at += 1;
    let escaped = false;
    for (;;) {
      this.#match(PLAIN);
      const next = this.#text[this.#at];
      if (next === '"') break;
      if (next !== "\\") this.#fail("a closing quote (control characters must be escaped)");
      escaped = true;
      if (!/^\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.test(this.#text.slice(this.#at, this.#at + 6))) {
        this.#fail("an escape sequence");
      }
      this.#at += 2;
    }
    this.#at += 1;
    if (!escaped) return this.#text.slice(start + 1, this.#at - 1);
    const value = JSON.parse(this.#text.slice(start, this.#at)) as string;
    if (!value.isWellFormed()) this.#failAt(start, "a string holds a lone surrogate");
    return value;
  }

  #number(): number | bigint {
    const match = this.#match(NUMBER);
    if (match === null) return this.#fail("a value");
    const value = Number(match[0]);
    const isWhole = match[1] === undefined && match[2] === undefined;
    if (!isWhole || Number.isSafeInteger(value)) return value;
    if (this.#offsets !== undefined)
      this.#failAt(this.#at - match[0].length, "a whole number beyond 2^53 must be written as a string");
    return BigInt(match[0]);
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match !== null) this.#at = pattern.lastIndex;
    return match;
  }

  #skipBlanks(): void {
    const code = this.#text.charCodeAt(this.#at);
    if (code === 0x20 || (code >= 0x09 && code <= 0x0d)) this.#match(BLANK);
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #fail(expected: string): never {
    const found = this.#text.codePointAt(this.#at);
    const what =
      found === undefined ? "the text ends" : `found ${JSON.stringify(String.fromCodePoint(found))}`;
    return this.#failAt(this.#at, `expected ${expected}, ${what}`);
  }

  #failAt(at: number, what: string): never {
    throw new MalformedJsonError(this.#name, what, { ...positionAt(this.#text, at), offset: at });
  }
}

const WORDS: readonly (readonly [string, JsonValue])[] = [
  ["true", true],
  ["false", false],
  ["null", null],
];
