import { nodeError } from "../buffer/errors.ts";
import { parseMimeType, serialiseMimeType } from "../fetch/mimeType.ts";

const NOT_TOKEN = /[^!#$%&'*+\-.^_`|~0-9A-Za-z]/;
const NOT_QUOTABLE = /[^\t\x20-\x7e\x80-\xff]/;

/** Returns a part of a MIME type in lower case; refuses what is no token. */
function checkToken(kind: string, text: string, whole: string): string {
  const at = text.search(NOT_TOKEN);
  if (text !== "" && at < 0) return text.toLowerCase();
  const place = at < 0 ? "" : ` at ${at}`;
  throw nodeError(
    "ERR_INVALID_MIME_SYNTAX",
    `The MIME syntax for a ${kind} in ${JSON.stringify(whole)} is invalid${place}`,
    TypeError,
  );
}

/** `node:util`'s parameters of a MIME type. */
export class MIMEParams {
  #values = new Map<unknown, string>();
  delete(name: unknown): void {
    this.#values.delete(name);
  }
  get(name: unknown): string | null {
    return this.#values.get(name) ?? null;
  }
  has(name: unknown): boolean {
    return this.#values.has(name);
  }
  set(name: unknown, value: unknown): void {
    const [key, text] = [`${name as number}`, `${value as number}`];
    checkToken("parameter name", key, key);
    const at = text.search(NOT_QUOTABLE);
    if (at >= 0)
      throw nodeError(
        "ERR_INVALID_MIME_SYNTAX",
        `The MIME syntax for a parameter value in ${JSON.stringify(text)} is invalid at ${at}`,
        TypeError,
      );
    this.#values.set(key, text);
  }
  *entries(): IterableIterator<[string, string]> {
    yield* this.#values.entries() as MapIterator<[string, string]>;
  }
  *keys(): IterableIterator<string> {
    yield* this.#values.keys() as MapIterator<string>;
  }
  *values(): IterableIterator<string> {
    yield* this.#values.values();
  }
  declare [Symbol.iterator]: () => IterableIterator<[string, string]>;
  toString(): string {
    return serialiseMimeType({ essence: "", parameters: this.#values as Map<string, string> }).slice(1);
  }
}

/** `node:util`'s MIME types. */
export class MIMEType {
  #type: string;
  #subtype: string;
  readonly #params = new MIMEParams();
  constructor(input: unknown) {
    const text = `${input as number}`;
    const [, type = "", slash = "", subtype = ""] = /^[\t\n\r ]*([^/]*)(\/?)([^;]*)/.exec(text) ?? [];
    if (slash === "" && !NOT_TOKEN.test(type)) checkToken("type", "", text);
    this.#type = checkToken("type", type, text);
    this.#subtype = checkToken("subtype", subtype.replace(/[\t\n\r ]+$/, ""), text);
    for (const [name, value] of parseMimeType(text)?.parameters ?? []) this.#params.set(name, value);
  }
  get type(): string {
    return this.#type;
  }
  set type(value: unknown) {
    this.#type = checkToken("type", `${value as number}`, `${value as number}`);
  }
  get subtype(): string {
    return this.#subtype;
  }
  set subtype(value: unknown) {
    this.#subtype = checkToken("subtype", `${value as number}`, `${value as number}`);
  }
  get essence(): string {
    return `${this.#type}/${this.#subtype}`;
  }
  get params(): MIMEParams {
    return this.#params;
  }
  toString(): string {
    const params = String(this.#params);
    return params === "" ? this.essence : `${this.essence};${params}`;
  }
}
// Other names of one method.
const alike = (value: unknown): PropertyDescriptor => ({ value, writable: true, configurable: true });
Object.defineProperties(MIMEParams.prototype, {
  [Symbol.iterator]: alike(MIMEParams.prototype.entries),
  toJSON: alike(MIMEParams.prototype.toString),
});
Object.defineProperty(MIMEType.prototype, "toJSON", alike(MIMEType.prototype.toString));
