/** A place in a text; both 1-based, the column in UTF-16 code units. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** A JSON text that was read, with the places of its values. */
export interface JsonText {
  readonly value: unknown;
  /** Place of the value at a JSON Pointer (RFC 6901), or of the nearest value above it that exists. */
  readonly positionOf: (pointer: string) => TextPosition;
}

/** Deepest nesting that is read: far above any preset, far below what would exhaust the stack. */
const MAX_DEPTH = 32;

/**
 * Reads a JSON text (RFC 8259) and keeps where each value is. Stricter than `JSON.parse`: a member name that occurs
 * twice, or that is `__proto__`, is refused, and so is nesting deeper than 32.
 * Throws {@link JsonTextError} with the place and the reason.
 */
export function parseJsonText(text: string): JsonText {
  const offsets = new Map<string, number>();
  const reader = new JsonReader(text, offsets);
  const value = reader.readDocument();
  return {
    value,
    positionOf(pointer) {
      let known = pointer;
      while (!offsets.has(known)) known = known.slice(0, known.lastIndexOf("/"));
      return positionAt(text, offsets.get(known) ?? 0);
    },
  };
}

/** Turns an offset in UTF-16 code units into a line and a column. */
export function positionAt(text: string, offset: number): TextPosition {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: offset - lineStart + 1 };
}

/** Escapes a member name for a JSON Pointer. */
export function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
// eslint-disable-next-line no-control-regex -- control characters must be escaped in a JSON string (RFC 8259, section 7)
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const LITERAL = /true|false|null/y;

class JsonReader {
  readonly #text: string;
  readonly #offsets: Map<string, number>;
  #at = 0;

  constructor(text: string, offsets: Map<string, number>) {
    this.#text = text;
    this.#offsets = offsets;
  }

  readDocument(): unknown {
    const value = this.#readValue("", 0);
    this.#take(SPACE);
    if (this.#at < this.#text.length) this.#fail("the end of the text expected");
    return value;
  }

  #readValue(pointer: string, depth: number): unknown {
    this.#take(SPACE);
    if (depth > MAX_DEPTH) this.#fail(`nested deeper than ${MAX_DEPTH}`);
    this.#offsets.set(pointer, this.#at);
    const first = this.#text[this.#at];
    if (first === "{") return this.#readObject(pointer, depth);
    if (first === "[") return this.#readArray(pointer, depth);
    if (first === '"') return this.#readString();
    const scalar = this.#take(NUMBER) ?? this.#take(LITERAL);
    if (scalar === undefined) this.#fail("a value expected");
    return JSON.parse(scalar);
  }

  #readObject(pointer: string, depth: number): Record<string, unknown> {
    const members: Record<string, unknown> = {};
    this.#at += 1;
    if (this.#accept("}")) return members;
    for (;;) {
      this.#take(SPACE);
      const start = this.#at;
      if (this.#text[start] !== '"') this.#fail("a member name in double quotes expected");
      const name = this.#readString();
      if (name === "__proto__") this.#fail('the member name "__proto__" is not allowed', start);
      if (Object.hasOwn(members, name)) this.#fail(`the member ${JSON.stringify(name)} occurs twice`, start);
      if (!this.#accept(":")) this.#fail('":" expected');
      members[name] = this.#readValue(`${pointer}/${escapePointer(name)}`, depth + 1);
      if (this.#accept("}")) return members;
      if (!this.#accept(",")) this.#fail('"," or "}" expected');
    }
  }

  #readArray(pointer: string, depth: number): unknown[] {
    const items: unknown[] = [];
    this.#at += 1;
    if (this.#accept("]")) return items;
    for (;;) {
      items.push(this.#readValue(`${pointer}/${items.length}`, depth + 1));
      if (this.#accept("]")) return items;
      if (!this.#accept(",")) this.#fail('"," or "]" expected');
    }
  }

  #readString(): string {
    const quoted = this.#take(STRING);
    if (quoted === undefined) {
      this.#fail("a string that is not closed, or has a control character or a wrong escape in it");
    }
    return JSON.parse(quoted) as string;
  }

  #accept(character: string): boolean {
    this.#take(SPACE);
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at = pattern.lastIndex;
    return found;
  }

  #fail(reason: string, at: number = this.#at): never {
    const found =
      at < this.#text.length ? `, found ${JSON.stringify(this.#text[at])}` : ", found the end of the text";
    const suffix = reason.endsWith("expected") ? found : "";
    throw new JsonTextError(`not JSON: ${reason}${suffix}`, positionAt(this.#text, at));
  }
}

/** A text that is not JSON. Callers turn it into a problem of the file that held it. */
export class JsonTextError extends SyntaxError {
  readonly position: TextPosition;

  constructor(message: string, position: TextPosition) {
    super(message);
    this.name = "JsonTextError";
    this.position = position;
  }
}
