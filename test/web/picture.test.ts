import { expect, test } from "vitest";
import { createPicture } from "../../src/web/picture.ts";
import { decodePng } from "./support/png.ts";

/** A square of 10 × 10 units, and one in it that runs the other way round. */
const SQUARE = "M0 0l10 0l0 10l-10 0";
const HOLE = "M3 3l0 4l4 0l0 -4";
const [WHITE, GRAY, BLACK] = ["#ffffff", "#808080", "#000000"];
const BLUE = "#0000ff";

/** Draws a path into a picture of 16 × 16 pixels, and returns its decoded form. */
async function draw(
  path: string,
  place: { x: number; y: number; scaleX?: number; scaleY?: number; color?: number },
) {
  const picture = createPicture({
    width: 16,
    height: 16,
    ground: [255, 255, 255],
    colors: [
      [0, 0, 0],
      [0, 0, 255],
    ],
  });
  picture.fill(path, { scaleX: 1, scaleY: 1, color: 0, ...place });
  return decodePng(await picture.toPng());
}

test("fills what is inside, in the chosen color, and leaves holes", async () => {
  const picture = await draw(SQUARE + HOLE, { x: 2, y: 3, color: 1 });
  expect(Object.fromEntries(picture.count())).toEqual({ [BLUE]: 100 - 16, [WHITE]: 256 - 84 });
  expect([picture.colorAt(2, 3), picture.colorAt(11, 12), picture.colorAt(5, 6)]).toEqual([
    BLUE,
    BLUE,
    WHITE,
  ]);
});

test("blends an edge into the ground by the part of the pixel that is inside", async () => {
  const picture = await draw(SQUARE, { x: 2.5, y: 3 });
  expect(Object.fromEntries(picture.count())).toEqual({ [GRAY]: 20, [BLACK]: 90, [WHITE]: 146 });
});

test("mirrors what has a negative scale, as outlines whose y axis points up", async () => {
  const picture = await draw("M0 0l10 0l0 10", { x: 2, y: 13, scaleY: -1 });
  expect([picture.colorAt(11, 4), picture.colorAt(3, 4), picture.colorAt(3, 14)]).toEqual([
    BLACK,
    WHITE,
    WHITE,
  ]);
});

test("draws curves: a quarter of a parabola has a sixth of its square", async () => {
  const counts = (await draw("M0 0q12 0 12 12l-12 0", { x: 2, y: 2 })).count();
  const inked = [...counts].reduce((sum, [color, pixels]) => {
    return sum + (pixels * (255 - Number.parseInt(color.slice(1, 3), 16))) / 255;
  }, 0);
  // The square, without the sixth between the curve and its corner at the control point.
  expect(inked).toBeCloseTo((144 * 5) / 6, -0.5);
});

test.each([
  ["left", { x: -5, y: 3 }, 50],
  ["right", { x: 11, y: 3 }, 50],
  ["top", { x: 3, y: -5 }, 50],
  ["bottom", { x: 3, y: 11 }, 50],
  ["all sides", { x: -20, y: -20, scaleX: 10, scaleY: 10 }, 256],
  ["everywhere", { x: 100, y: -100 }, 0],
] as const)("leaves out what is outside: %s", async (_, place, pixels) => {
  expect((await draw(SQUARE, place)).count().get(BLACK) ?? 0).toBe(pixels);
});
