/**
 * Hex and base64 (RFC 4648), implemented here: V8 has methods for them only from Node 25 on, and a source may replace
 * those. The built-ins are captured before any of the caller's code runs.
 */
const { Uint8Array } = globalThis;
const codeAt = Function.prototype.call.bind(String.prototype.charCodeAt) as (
  text: string,
  at: number,
) => number;

const HEX = "0123456789abcdef";
const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Values of the base64 digits, by character code. */
const base64Values = /* @__PURE__ */ readDigits();

function readDigits(): Uint8Array {
  const values = new Uint8Array(128);
  for (let value = 0; value < BASE64.length; value++) values[codeAt(BASE64, value)] = value;
  return values;
}

/** Returns the value of a hex digit: the low four bits of its ASCII code, plus 9 for a letter of either case. */
const hexValue = (text: string, at: number): number => {
  const code = codeAt(text, at);
  return (code & 15) + 9 * (code >> 6);
};

/** Decodes hex; the text must be an even number of hex digits. */
export function fromHex(text: string): Uint8Array<ArrayBuffer> {
  const length = text.length >> 1;
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at++) bytes[at] = (hexValue(text, 2 * at) << 4) | hexValue(text, 2 * at + 1);
  return bytes;
}

/** Encodes bytes as hex, two lower-case digits per byte. */
export function toHex(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    text += (HEX[byte >> 4] as string) + (HEX[byte & 15] as string);
  }
  return text;
}

/** Decodes base64 without padding; the length must be a possible one. Leftover bits that don't fill a byte are dropped. */
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

/** Encodes bytes as base64 with padding. */
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
