import type { Internals } from "../internals.ts";

/** A name and its value. */
export type Pair = [name: string, value: string];

/** The application/x-www-form-urlencoded format (URL Standard, §5). */
export interface FormEncoding {
  /** Parses the text of a query, without its `?`, into decoded pairs. */
  readonly parse: (text: string) => Pair[];
  readonly serialize: (pairs: readonly Pair[]) => string;
}

/** Creates the encoding; the text chunk decodes UTF-8. */
export function createFormEncoding({ decodeUtf8, encodeUtf8 }: Internals): FormEncoding {
  function decode(text: string): string {
    const spaced = text.replaceAll("+", " ");
    if (!spaced.includes("%")) return spaced;
    const bytes = encodeUtf8(spaced);
    const out = new Uint8Array(bytes.length);
    let length = 0;
    for (let at = 0; at < bytes.length; at++) {
      const pair = bytes[at] === 0x25 ? percentByte(bytes, at) : -1;
      out[length++] = pair < 0 ? (bytes[at] as number) : pair;
      if (pair >= 0) at += 2;
    }
    return decodeUtf8(out.subarray(0, length), false, true);
  }

  function encode(text: string): string {
    let out = "";
    for (const byte of encodeUtf8(text)) {
      const character = String.fromCharCode(byte);
      if (character === " ") out += "+";
      else
        out += /[A-Za-z0-9*\-._]/.test(character)
          ? character
          : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    }
    return out;
  }

  return {
    parse: (text) =>
      text
        .split("&")
        .filter((part) => part !== "")
        .map((part) => {
          const equals = part.indexOf("=");
          return equals < 0
            ? [decode(part), ""]
            : [decode(part.slice(0, equals)), decode(part.slice(equals + 1))];
        }),
    serialize: (pairs) => pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&"),
  };
}

/** Returns the byte that the `%xx` at `at` stands for; −1 if it isn't one. */
function percentByte(bytes: Uint8Array, at: number): number {
  const digit = (byte: number | undefined): number =>
    byte === undefined ? Number.NaN : Number.parseInt(String.fromCharCode(byte), 16);
  const value = digit(bytes[at + 1]) * 16 + digit(bytes[at + 2]);
  return Number.isNaN(value) ? -1 : value;
}
