import { crc32, inflateSync } from "node:zlib";

/** A picture whose pixels are indexes into a palette. */
interface Decoded {
  readonly width: number;
  readonly height: number;
  /** Returns the color at a pixel as `#rrggbb`. */
  colorAt(x: number, y: number): string;
  /** Returns how many pixels of a rectangle, by default all, have each color. */
  count(rectangle?: {
    readonly x?: number;
    readonly y?: number;
    readonly width?: number;
    readonly height?: number;
  }): ReadonlyMap<string, number>;
}

/** Decodes a PNG file of 8 bits per pixel, with a palette and unfiltered rows. Throws if it isn't one. */
export function decodePng(file: Buffer): Decoded {
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < file.length;) {
    const length = file.readUInt32BE(at);
    const named = file.subarray(at + 4, at + 8 + length);
    if (crc32(named) !== file.readUInt32BE(at + 8 + length)) throw new Error(`checksum at ${at}`);
    chunks.set(named.toString("latin1", 0, 4), named.subarray(4));
    at += length + 12;
  }
  const names = [file.toString("latin1", 1, 4), ...chunks.keys()].join(" ");
  const header = chunks.get("IHDR")!;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  if (names !== "PNG IHDR PLTE IDAT IEND" || header.toString("hex", 8) !== "0803000000")
    throw new Error(`${names}, ${header.toString("hex")}`);
  const palette = chunks.get("PLTE")!;
  const rows = inflateSync(chunks.get("IDAT")!);
  if (rows.length !== (width + 1) * height) throw new Error(`${rows.length} bytes of pixels`);
  const indexAt = (x: number, y: number): number => rows[y * (width + 1) + 1 + x]!;
  const colorOf = (index: number): string => {
    if (3 * index + 3 > palette.length) throw new Error(`no color ${index}`);
    return `#${palette.toString("hex", 3 * index, 3 * index + 3)}`;
  };
  return {
    width,
    height,
    colorAt: (x, y) => colorOf(indexAt(x, y)),
    count(rectangle = {}) {
      const area = { x: 0, y: 0, width, height, ...rectangle };
      const counts = new Map<string, number>();
      const pixels = new Uint32Array(256);
      for (let y = area.y; y < area.y + area.height; y++)
        for (let x = area.x; x < area.x + area.width; x++) pixels[indexAt(x, y)]!++;
      for (const [index, count] of pixels.entries())
        if (count > 0) counts.set(colorOf(index), (counts.get(colorOf(index)) ?? 0) + count);
      return counts;
    },
  };
}
