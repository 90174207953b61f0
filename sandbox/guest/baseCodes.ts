/**
 * Hex and base64 (RFC 4648), written out: V8 has methods for them from Node 25 on only, and a source may replace them. The built-ins are
 * kept as they are before any of the caller's code has run.
 */
const { Uint8Array } = globalThis;
const codeAt = Function.prototype.call.bind(String.prototype.charCodeAt) as (
  text: string,
  at: number,
) => number;

const HEX = "0123456789abcdef";
const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Values of base64's digits by character code. */
const base64Values = /* @__PURE__ */ readDigits();

function readDigits(): Uint8Array {
  const values = new Uint8Array(128);
  for (let value = 0; value < BASE64.length; value++) values[codeAt(BASE64, value)] = value;
  return values;
}

/** Value of a hex digit: in ASCII the low four bits, and 9 more for a letter of either case. */
const hexValue = (text: string, at: number): number => {
  const code = codeAt(text, at);
  return (code & 15) + 9 * (code >> 6);
};

/** Reads an even number of hex digits, and nothing else. */
export function fromHex(text: string): Uint8Array<ArrayBuffer> {
  const length = text.length >> 1;
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at++) bytes[at] = (hexValue(text, 2 * at) << 4) | hexValue(text, 2 * at + 1);
  return bytes;
}

/** Writes two lower-case digits for each byte. */
export function toHex(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    text += (HEX[byte >> 4] as string) + (HEX[byte & 15] as string);
  }
  return text;
}

/** Reads base64 without padding, of a length that is possible; bits that make no byte are dropped. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array((text.length * 3) >> 2);
  let held = 0;
  let bits = 0;
  let filled = 0;
  for (let at = 0; at < text.length; at++) {
    held = ((held << 6) | (base64Values[codeAt(text, at)] as number)) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[filled++] = held >> bits;
    }
  }
  return bytes;
}

/** Writes base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const left = bytes.length - at;
    const group =
      ((bytes[at] as number) << 16) |
      (left > 1 ? (bytes[at + 1] as number) << 8 : 0) |
      (left > 2 ? (bytes[at + 2] as number) : 0);
    text += (BASE64[group >> 18] as string) + (BASE64[(group >> 12) & 63] as string);
    text += left > 1 ? (BASE64[(group >> 6) & 63] as string) : "=";
    text += left > 2 ? (BASE64[group & 63] as string) : "=";
  }
  return text;
}
