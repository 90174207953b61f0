/** Level M of ISO/IEC 18004 by version, from 1: error correction codewords of each block, and number of blocks, all of one size. */
const VERSIONS: readonly (readonly [correction: number, blocks: number])[] = [
  [10, 1],
  [16, 1],
  [26, 1],
  [18, 2],
  [24, 2],
  [16, 4],
];
/** Mask 0. With ids in it, a text is random enough for any mask, so none has to be looked for. */
const MASK = 0;
const isMasked = (x: number, y: number): boolean => (x + y) % 2 === 0;

/**
 * Encodes a text as a QR code of ISO/IEC 18004, in byte mode and at level M, of which 15 % may be unreadable.
 *
 * @returns rows of modules, `true` for dark, without the quiet zone of 4 modules; `undefined` for more than 106 bytes of UTF-8, the
 * capacity of version 6.
 */
export function encodeQrCode(text: string): readonly (readonly boolean[])[] | undefined {
  const bytes = new TextEncoder().encode(text);
  // The mode and the length take 12 bits.
  const version = VERSIONS.findIndex((_, i) => bytes.length + 2 <= dataLengthOf(i + 1)) + 1;
  return version === 0 ? undefined : draw(version, toBits(version, bytes));
}

/** Codewords of a version without those for error correction. */
function dataLengthOf(version: number): number {
  const [correction, blocks] = VERSIONS[version - 1]!;
  const size = 17 + 4 * version;
  // Three finders with their format bits, two lines of timing, and one alignment pattern.
  const patterns = 3 * 64 + 31 + 2 * (size - 16) + (version === 1 ? 0 : 25);
  return Math.floor((size ** 2 - patterns) / 8) - correction * blocks;
}

/** Returns all bits in the order in which they are placed: data, then error correction, each a codeword of every block in turn. */
function toBits(version: number, bytes: Uint8Array): boolean[] {
  const [correction, count] = VERSIONS[version - 1]!;
  const capacity = dataLengthOf(version);
  const hex = `4${[bytes.length, ...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}0`;
  const data = hex.match(/../g)!.map((byte) => parseInt(byte, 16));
  for (let i = 0; data.length < capacity; i++) data.push(i % 2 === 0 ? 0xec : 0x11);
  const size = capacity / count;
  const blocks = Array.from({ length: count }, (_, i) => data.slice(i * size, (i + 1) * size));
  const inTurn = (rows: readonly (readonly number[])[]): number[] =>
    rows[0]!.flatMap((_, i) => rows.map((row) => row[i]!));
  return [...inTurn(blocks), ...inTurn(blocks.map((block) => correct(block, correction)))].flatMap((byte) =>
    Array.from({ length: 8 }, (_, i) => ((byte >> (7 - i)) & 1) === 1),
  );
}

/** Multiplies in GF(2^8) modulo x^8 + x^4 + x^3 + x^2 + 1. */
function multiply(a: number, b: number): number {
  let product = 0;
  for (let i = 7; i >= 0; i--) product = (product << 1) ^ ((product >> 7) * 0x11d) ^ (((b >> i) & 1) * a);
  return product;
}

/** Returns a block's Reed-Solomon codewords: its remainder in a division by the product of all (x - 2^i), i < `length`. */
function correct(block: readonly number[], length: number): number[] {
  let divisor = [1];
  for (let i = 0, root = 1; i < length; i++, root = multiply(root, 2)) {
    const next = [...divisor, 0];
    divisor.forEach((factor, at) => (next[at + 1]! ^= multiply(factor, root)));
    divisor = next;
  }
  const rest = [...block, ...Array<number>(length).fill(0)];
  block.forEach((_, i) => {
    const factor = rest[i]!;
    divisor.forEach((one, at) => (rest[i + at]! ^= multiply(one, factor)));
  });
  return rest.slice(block.length);
}

/** Draws the patterns, the format and the masked bits. */
function draw(version: number, bits: readonly boolean[]): boolean[][] {
  const size = 17 + 4 * version;
  const modules = Array.from({ length: size }, () => Array<boolean | undefined>(size).fill(undefined));
  const set = (x: number, y: number, isDark: boolean): void => {
    if (x in modules && y in modules) modules[y]![x] = isDark;
  };
  const square = (x: number, y: number, radius: number, light: readonly number[]): void => {
    for (let dy = -radius; dy <= radius; dy++)
      for (let dx = -radius; dx <= radius; dx++)
        set(x + dx, y + dy, !light.includes(Math.max(Math.abs(dx), Math.abs(dy))));
  };
  for (let i = 0; i < size; i++) {
    set(6, i, i % 2 === 0);
    set(i, 6, i % 2 === 0);
  }
  for (const [x, y] of [[3, 3] as const, [size - 4, 3] as const, [3, size - 4] as const])
    square(x, y, 4, [2, 4]);
  if (version > 1) square(size - 7, size - 7, 2, [1]);
  // Level M is 00. Ten bits of a BCH code protect it and the mask.
  let format = MASK;
  for (let i = 0; i < 10; i++) format = (format << 1) ^ ((format >> 9) * 0x537);
  format = ((MASK << 10) | format) ^ 0x5412;
  for (let i = 0; i < 15; i++) {
    const isDark = ((format >> i) & 1) === 1;
    set(8, i < 6 ? i : i < 8 ? i + 1 : size - 15 + i, isDark);
    set(i < 8 ? size - 1 - i : i === 8 ? 7 : 14 - i, 8, isDark);
  }
  set(8, size - 8, true);
  let next = 0;
  // Pairs of columns from the right, up and down in turn; the line of timing is none of them.
  for (let right = size - 1, isUp = true; right > 0; right -= right === 8 ? 3 : 2, isUp = !isUp)
    for (let i = 0; i < size; i++)
      for (const x of [right, right - 1]) {
        const y = isUp ? size - 1 - i : i;
        modules[y]![x] ??= (bits[next++] ?? false) !== isMasked(x, y);
      }
  return modules as boolean[][];
}
