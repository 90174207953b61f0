/** What kind of parameter a bound refers to. */
export type ParameterKind = "decimal" | "string" | "boolean" | "array";

/** An upper bound on the size of a preset's result, as a function of its parameters. */
export interface ResultBound {
  /** Parameters that the bound depends on, in order of their first use. */
  readonly parameters: readonly string[];
  /** Returns the bound in bytes, at least 0. `params` are as returned by `parsePresetParams`: decimals as strings of digits. */
  readonly evaluate: Evaluate;
}

type Evaluate = (params: Readonly<Record<string, unknown>>) => bigint;

/**
 * Parses the `maxResultBytes` of a preset: whole numbers, decimal parameters by name, `+ - *`, parentheses and
 * - `digits(x)`: characters of x written in decimal, including a minus sign;
 * - `bytes(p)`: UTF-8 bytes of the string parameter p;
 * - `count(p)`: items of the array parameter p;
 * - `longest(p, n)`: total UTF-8 bytes of the n longest items of the array parameter p;
 * - `min(x, y)`, `max(x, y)`.
 *
 * It is a formula and not code, so that the service knows a preset's worst case without running anything, in microseconds,
 * and can search for the nearest parameters that fit. Throws {@link ResultBoundError} with the offset of the error.
 */
export function parseResultBound(text: string, kinds: ReadonlyMap<string, ParameterKind>): ResultBound {
  return new BoundReader(text, kinds).readBound();
}

/** Deepest nesting of parentheses. */
const MAX_DEPTH = 20;
const SPACE = /\s*/y;
const TOKEN = /[0-9]{1,78}|[A-Za-z][A-Za-z0-9_]*|[-+*(),]/y;

/** Recursive descent: sum = product { (+|-) product }, product = factor { * factor }. `#token` is the next one to read. */
class BoundReader {
  readonly #text: string;
  readonly #kinds: ReadonlyMap<string, ParameterKind>;
  readonly #used = new Set<string>();
  /** `""` at the end of the text. */
  #token = "";
  #tokenAt = 0;
  #depth = 0;

  constructor(text: string, kinds: ReadonlyMap<string, ParameterKind>) {
    this.#text = text;
    this.#kinds = kinds;
  }

  readBound(): ResultBound {
    this.#advance();
    const evaluate = this.#readSum();
    if (this.#token !== "") this.#fail("an operator");
    return {
      parameters: [...this.#used],
      evaluate: (params) => {
        const bytes = evaluate(params);
        // A difference may be negative for parameters that its author didn't think of.
        return bytes < 0n ? 0n : bytes;
      },
    };
  }

  #readSum(): Evaluate {
    let sum = this.#readProduct();
    for (;;) {
      const sign = this.#accept("+") ? 1n : this.#accept("-") ? -1n : 0n;
      if (sign === 0n) return sum;
      const [left, right] = [sum, this.#readProduct()];
      sum = (params) => left(params) + sign * right(params);
    }
  }

  #readProduct(): Evaluate {
    let product = this.#readFactor();
    while (this.#accept("*")) {
      const [left, right] = [product, this.#readFactor()];
      product = (params) => left(params) * right(params);
    }
    return product;
  }

  #readFactor(): Evaluate {
    const token = this.#token;
    if (/^[0-9]/.test(token)) {
      const value = BigInt(token);
      this.#advance();
      return () => value;
    }
    if (this.#accept("(")) return this.#readNested(() => this.#readSum());
    if (!/^[A-Za-z]/.test(token)) this.#fail("a number or a name");
    const tokenAt = this.#tokenAt;
    this.#advance();
    if (this.#accept("(")) return this.#readNested(() => this.#readCall(token, tokenAt));
    this.#use(token, "decimal", tokenAt);
    return (params) => BigInt(params[token] as string);
  }

  #readNested(read: () => Evaluate): Evaluate {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new ResultBoundError(`nested deeper than ${MAX_DEPTH}`, this.#tokenAt);
    const evaluate = read();
    if (!this.#accept(")")) this.#fail('")"');
    this.#depth -= 1;
    return evaluate;
  }

  #readCall(name: string, nameAt: number): Evaluate {
    switch (name) {
      case "digits": {
        const x = this.#readSum();
        return (params) => BigInt(x(params).toString().length);
      }
      case "bytes": {
        const of = this.#readParameter("string");
        return (params) => BigInt(Buffer.byteLength(params[of] as string));
      }
      case "count": {
        const of = this.#readParameter("array");
        return (params) => BigInt((params[of] as readonly unknown[]).length);
      }
      case "longest": {
        const of = this.#readParameter("array");
        if (!this.#accept(",")) this.#fail('","');
        const count = this.#readSum();
        return (params) => sumOfLongest(params[of] as readonly unknown[], count(params));
      }
      case "min":
      case "max": {
        const x = this.#readSum();
        if (!this.#accept(",")) this.#fail('","');
        const y = this.#readSum();
        return (params) => {
          const [a, b] = [x(params), y(params)];
          return a < b === (name === "min") ? a : b;
        };
      }
      default: {
        const known = "digits, bytes, count, longest, min, max";
        throw new ResultBoundError(`there is no function "${name}"; there are ${known}`, nameAt);
      }
    }
  }

  #readParameter(kind: ParameterKind): string {
    const name = this.#token;
    this.#use(name, kind, this.#tokenAt);
    this.#advance();
    return name;
  }

  #use(name: string, kind: ParameterKind, at: number): void {
    if (this.#kinds.get(name) !== kind) {
      const what = kind === "array" ? "an array parameter" : `a ${kind} parameter`;
      throw new ResultBoundError(`the name of ${what} expected, found ${describeToken(name)}`, at);
    }
    this.#used.add(name);
  }

  #accept(token: string): boolean {
    if (this.#token !== token) return false;
    this.#advance();
    return true;
  }

  #advance(): void {
    SPACE.lastIndex = this.#tokenAt + this.#token.length;
    SPACE.exec(this.#text);
    this.#tokenAt = TOKEN.lastIndex = SPACE.lastIndex;
    this.#token = TOKEN.exec(this.#text)?.[0] ?? "";
    if (this.#token === "" && this.#tokenAt < this.#text.length) {
      const found = JSON.stringify(this.#text[this.#tokenAt]);
      throw new ResultBoundError(`${found} means nothing here`, this.#tokenAt);
    }
  }

  #fail(expected: string): never {
    throw new ResultBoundError(`${expected} expected, found ${describeToken(this.#token)}`, this.#tokenAt);
  }
}

function describeToken(token: string): string {
  return token === "" ? "the end" : `"${token}"`;
}

function sumOfLongest(items: readonly unknown[], count: bigint): bigint {
  const sizes = items.map((item) => Buffer.byteLength(String(item))).sort((a, b) => b - a);
  let total = 0;
  for (const [index, size] of sizes.entries()) if (BigInt(index) < count) total += size;
  return BigInt(total);
}

/** A bound that can't be parsed. Callers turn it into a problem of the file that holds it. */
export class ResultBoundError extends SyntaxError {
  /** In UTF-16 code units from the start of the bound's text. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.name = "ResultBoundError";
    this.offset = offset;
  }
}
