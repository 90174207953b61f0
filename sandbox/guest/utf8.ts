const { ArrayBuffer, Uint8Array } = globalThis;
const charCodeAt = Function.prototype.call.bind(String.prototype.charCodeAt) as (
  text: string,
  at: number,
) => number;

/** Encodes a string as UTF-8; lone surrogates become U+FFFD (Encoding Standard, UTF-8 encoder). */
export function encodeUtf8(text: string): Uint8Array {
  const length = text.length;
  let ascii = 0;
  const short = new Uint8Array(length);
  for (; ascii < length; ascii++) {
    const unit = charCodeAt(text, ascii);
    if (unit > 0x7f) break;
    short[ascii] = unit;
  }
  if (ascii === length) return short;
  const buffer = new ArrayBuffer(ascii + (length - ascii) * 3);
  const bytes = new Uint8Array(buffer);
  for (let at = 0; at < ascii; at++) bytes[at] = short[at] as number;
  let end = ascii;
  for (let at = ascii; at < length; at++) {
    let point = charCodeAt(text, at);
    if (point >= 0xd800 && point <= 0xdfff) {
      const low = point <= 0xdbff && at + 1 < length ? charCodeAt(text, at + 1) : 0;
      if (low >= 0xdc00 && low <= 0xdfff) {
        point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
        at += 1;
      } else point = 0xfffd;
    }
    if (point < 0x80) bytes[end++] = point;
    else if (point < 0x800) {
      bytes[end++] = 0xc0 | (point >> 6);
      bytes[end++] = 0x80 | (point & 0x3f);
    } else if (point < 0x10000) {
      bytes[end++] = 0xe0 | (point >> 12);
      bytes[end++] = 0x80 | ((point >> 6) & 0x3f);
      bytes[end++] = 0x80 | (point & 0x3f);
    } else {
      bytes[end++] = 0xf0 | (point >> 18);
      bytes[end++] = 0x80 | ((point >> 12) & 0x3f);
      bytes[end++] = 0x80 | ((point >> 6) & 0x3f);
      bytes[end++] = 0x80 | (point & 0x3f);
    }
  }
  return new Uint8Array(new Uint8Array(buffer, 0, end));
}
