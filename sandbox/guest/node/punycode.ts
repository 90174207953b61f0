/** `node:punycode`, deprecated: RFC 3492 with its parameters for domain names. */

const BASE = 36;
const DELIMITER = "-";
const DIGITS = "abcdefghijklmnopqrstuvwxyz0123456789";
const MAX_POINT = 0x10ffff;

/** What isn't a text counts as none, as in Deno. */
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Adapts the bias (§6.1). */
function adapt(delta: number, points: number, isFirst: boolean): number {
  let left = Math.floor(delta / (isFirst ? 700 : 2));
  left += Math.floor(left / points);
  let bias = 0;
  for (; left > 455; bias += BASE) left = Math.floor(left / (BASE - 1));
  return bias + Math.floor((BASE * left) / (left + 38));
}
const thresholdOf = (at: number, bias: number): number => Math.min(Math.max(at - bias, 1), 26);

/** Encodes a label (§6.3). */
function encodeLabel(value: unknown): string {
  const points = Array.from(textOf(value), (character) => character.codePointAt(0) as number);
  const basic = points.filter((point) => point < 128);
  let output = String.fromCodePoint(...basic);
  if (basic.length > 0) output += DELIMITER;
  let [least, delta, bias, done] = [128, 0, 72, basic.length];
  while (done < points.length) {
    const next = Math.min(...points.filter((point) => point >= least));
    delta += (next - least) * (done + 1);
    least = next;
    for (const point of points) {
      if (point < least) delta++;
      if (point !== least) continue;
      let rest = delta;
      for (let at = BASE; ; at += BASE) {
        const threshold = thresholdOf(at, bias);
        if (rest < threshold) break;
        output += DIGITS[threshold + ((rest - threshold) % (BASE - threshold))];
        rest = Math.floor((rest - threshold) / (BASE - threshold));
      }
      output += DIGITS[rest];
      bias = adapt(delta, done + 1, done === basic.length);
      delta = 0;
      done++;
    }
    delta++;
    least++;
  }
  return output;
}

/** Decodes a label (§6.2). */
function decodeLabel(value: unknown): string {
  const text = textOf(value);
  const end = text.lastIndexOf(DELIMITER);
  const output = Array.from(
    text.slice(0, Math.max(end, 0)),
    (character) => character.codePointAt(0) as number,
  );
  const check = (isRight: boolean): void => {
    if (!isRight) throw new RangeError("Invalid input");
  };
  check(output.every((point) => point < 128));
  let [point, place, bias] = [128, 0, 72];
  for (let at = end < 0 ? 0 : end + 1; at < text.length;) {
    const start = place;
    for (let weight = 1, position = BASE; ; position += BASE) {
      check(at < text.length);
      const digit = DIGITS.indexOf((text[at++] as string).toLowerCase());
      check(digit >= 0);
      place += digit * weight;
      const threshold = thresholdOf(position, bias);
      if (digit < threshold) break;
      weight *= BASE - threshold;
    }
    const count = output.length + 1;
    bias = adapt(place - start, count, start === 0);
    point += Math.floor(place / count);
    place %= count;
    check(point <= MAX_POINT && !(point >= 0xd800 && point < 0xe000));
    output.splice(place++, 0, point);
  }
  return ucs2encode(output);
}

/** Converts the labels of a domain; what stands before an `@` stays. */
function convertLabels(value: unknown, convert: (label: string) => string): string {
  const text = textOf(value);
  const at = text.indexOf("@") + 1;
  return text.slice(0, at) + text.slice(at).split(".").map(convert).join(".");
}

function ucs2decode(text: string): number[] {
  const points: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const point = String.prototype.codePointAt.call(text, at) as number;
    if (point > 0xffff) at++;
    points.push(point);
  }
  return points;
}
const ucs2encode = (points: readonly number[]): string => String.fromCodePoint(...points);

/** Creates the module. */
export function createPunycode(): Readonly<Record<string, unknown>> {
  const names = {
    decode: decodeLabel,
    encode: encodeLabel,
    toASCII: (domain: unknown) =>
      convertLabels(domain, (label) => (/[^\0-\x7f]/.test(label) ? `xn--${encodeLabel(label)}` : label)),
    toUnicode: (domain: unknown) =>
      convertLabels(domain, (label) =>
        label.startsWith("xn--") ? decodeLabel(label.slice("xn--".length).toLowerCase()) : label,
      ),
    ucs2: { decode: ucs2decode, encode: ucs2encode },
    version: "2.1.0",
  };
  return { ...names, default: names };
}
