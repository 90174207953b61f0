import { promisify } from "node:util";
import { crc32, deflate } from "node:zlib";
import { createMemo } from "../lib/memo.ts";

/** Red, green and blue, each of 8 bits. */
type Color = readonly [red: number, green: number, blue: number];

/** Where, how large and in which color an outline is drawn. */
interface Place {
  /** Pixels from the left and from the top at which the outline's origin is. */
  readonly x: number;
  readonly y: number;
  /** Pixels per unit of the outline; negative where its axis runs the other way: to the left, or up. */
  readonly scaleX: number;
  readonly scaleY: number;
  /** Index into the picture's colors. */
  readonly color: number;
}

/** A picture in a few colors on one ground. */
export interface Picture {
  /**
   * Fills an outline with smooth edges: the data of an SVG path that has only `M`, `l` and `q`, which is kept. A part that runs the other way
   * round is a hole. What is outside the picture is left out.
   */
  fill(path: string, place: Place): void;
  /** Encodes the picture as PNG; it is compressed outside the event loop. */
  toPng(): Promise<Buffer>;
}

/** The corners of a closed line, each as x and y. */
type Contour = readonly number[];

/** Steps in which the edge of a shape blends into the ground. */
const SHADES = 32;
/** Lines that take the place of a curve: at 150 pixels per em they are a tenth of a pixel off. */
const CURVE_LINES = 6;
const PNG_SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

const compress = promisify(deflate);

/**
 * Creates an empty picture.
 *
 * @param options.colors at most 7, as the palette of 256 has {@link SHADES} of each
 */
export function createPicture(options: {
  readonly width: number;
  readonly height: number;
  readonly ground: Color;
  readonly colors: readonly Color[];
}): Picture {
  const { width, height, ground, colors } = options;
  const palette = [ground, ...colors.flatMap((color) => shadesOf(color, ground))];
  // A row is a byte that says it is unfiltered, and for each pixel its index into the palette.
  const rows = Buffer.alloc((width + 1) * height);

  return {
    fill(path, place) {
      const shape = cover(readContours(path), place);
      for (let row = Math.max(0, -shape.top); row < Math.min(shape.height, height - shape.top); row++) {
        let covered = 0;
        for (let column = 0; column < shape.width; column++) {
          covered += shape.changes[row * shape.width + column]!;
          const shade = Math.round(Math.min(1, Math.abs(covered)) * SHADES);
          const x = shape.left + column;
          if (shade > 0 && x >= 0 && x < width)
            rows[(shape.top + row) * (width + 1) + 1 + x] = place.color * SHADES + shade;
        }
      }
    },
    async toPng() {
      const header = Buffer.alloc(13);
      header.writeUInt32BE(width, 0);
      header.writeUInt32BE(height, 4);
      // 8 bits for each pixel, an index into the palette.
      header.set([8, 3], 8);
      return Buffer.concat([
        PNG_SIGNATURE,
        chunkOf("IHDR", header),
        chunkOf("PLTE", Buffer.from(palette.flat())),
        chunkOf("IDAT", await compress(rows)),
        chunkOf("IEND", Buffer.alloc(0)),
      ]);
    },
  };
}

/** Mixes a color with the ground, from little of it to all. */
function shadesOf(color: Color, ground: Color): readonly (readonly number[])[] {
  return Array.from({ length: SHADES }, (_, i) =>
    color.map((part, k) => Math.round(ground[k]! + ((part - ground[k]!) * (i + 1)) / SHADES)),
  );
}

/** Writes a chunk of a PNG file: length, type, data and checksum. */
function chunkOf(type: string, data: Buffer): Buffer {
  const chunk = Buffer.alloc(data.length + 12);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(type, 4, "latin1");
  chunk.set(data, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), data.length + 8);
  return chunk;
}

const memo = createMemo<string>();

/** Reads the contours of a path, its curves as lines. */
function readContours(path: string): readonly Contour[] {
  return memo(path, () => {
    const contours: number[][] = [];
    let [x, y] = [0, 0];
    for (const [, command, numbers] of path.matchAll(/([Mlq])([^Mlq]*)/g)) {
      const [a = 0, b = 0, c = 0, d = 0] = numbers!.split(" ").map(Number);
      if (command === "M") {
        [x, y] = [a, b];
        contours.push([x, y]);
      } else if (command === "l") {
        [x, y] = [x + a, y + b];
        contours.at(-1)!.push(x, y);
      } else {
        for (let i = 1; i <= CURVE_LINES; i++) {
          const t = i / CURVE_LINES;
          const [middle, end] = [2 * t * (1 - t), t * t];
          contours.at(-1)!.push(x + middle * a + end * c, y + middle * b + end * d);
        }
        [x, y] = [x + c, y + d];
      }
    }
    return contours;
  });
}

/** The pixels that a shape covers, in the rectangle around it. */
interface Cover {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** By how much more of a pixel is inside than of the one to its left; row by row. */
  readonly changes: Float32Array;
}

function cover(contours: readonly Contour[], { x, y, scaleX, scaleY }: Place): Cover {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const corners of contours)
    for (let i = 0; i < corners.length; i += 2) {
      const [cornerX, cornerY] = [x + corners[i]! * scaleX, y + corners[i + 1]! * scaleY];
      left = Math.min(left, Math.floor(cornerX));
      right = Math.max(right, Math.ceil(cornerX));
      top = Math.min(top, Math.floor(cornerY));
      bottom = Math.max(bottom, Math.ceil(cornerY));
    }
  if (left > right) return { left: 0, top: 0, width: 0, height: 0, changes: new Float32Array() };
  // An edge at the right changes the pixel after it.
  const [width, height] = [right - left + 1, bottom - top];
  const changes = new Float32Array(width * height);
  for (const corners of contours) {
    let fromX = x + corners[corners.length - 2]! * scaleX - left;
    let fromY = y + corners[corners.length - 1]! * scaleY - top;
    for (let i = 0; i < corners.length; i += 2) {
      const [toX, toY] = [x + corners[i]! * scaleX - left, y + corners[i + 1]! * scaleY - top];
      addEdge(changes, width, fromX, fromY, toX, toY);
      [fromX, fromY] = [toX, toY];
    }
  }
  return { left, top, width, height, changes };
}

/**
 * Adds an edge: as far as it goes down a row, all to the right of it is inside, or outside if it goes up. Of the pixel that it crosses, that is
 * the part to its right.
 */
function addEdge(
  changes: Float32Array,
  width: number,
  fromX: number,
  fromY: number,
  toX: number,
  toY: number,
): void {
  const slope = (toX - fromX) / (toY - fromY);
  const direction = Math.sign(toY - fromY);
  const end = Math.max(fromY, toY);
  for (let upper = Math.min(fromY, toY); upper < end;) {
    const row = Math.floor(upper);
    const lower = Math.min(row + 1, end);
    const [one, other] = [fromX + (upper - fromY) * slope, fromX + (lower - fromY) * slope];
    const [left, right] = [Math.min(one, other), Math.max(one, other)];
    for (let column = Math.floor(left); column <= right; column++) {
      const [a, b] = [Math.max(column, left), Math.min(column + 1, right)];
      const part = direction * (lower - upper) * (left === right ? 1 : (b - a) / (right - left));
      const outside = (a + b) / 2 - column;
      changes[row * width + column]! += part * (1 - outside);
      changes[row * width + column + 1]! += part * outside;
    }
    upper = lower;
  }
}
