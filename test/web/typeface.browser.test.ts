import type { Browser } from "playwright-core";
import { expect, test } from "vitest";
import { createPicture } from "../../src/web/picture.ts";
import { drawText, measure } from "../../src/web/typeface.ts";
import { readOpenSans } from "../pictures/openSans.ts";
import { shared } from "../support/shared.ts";
import { decodePng } from "./support/png.ts";

const [WIDTH, HEIGHT, X, Y, SIZE] = [110, 140, 8, 100, 90];
/** Plain, with holes, of several parts, composed, and from each script and kind. */
const CHARACTERS = Array.from("H8g@ßőЖΩữ½…");

let browser: Browser;
shared.beforeAll(({ browser: chromium }) => {
  browser = chromium;
});

/** How much of each pixel of a character is inked in Chromium, from 0 to 255, and how wide the character is. */
async function drawInChromium(weight: "Regular" | "Bold") {
  const page = await browser.newPage();
  try {
    return await page.evaluate<
      readonly { readonly width: number; readonly ink: readonly number[] }[]
    >(`(async () => {
      const font = Uint8Array.from(atob("${readOpenSans(weight).toString("base64")}"), (byte) => byte.charCodeAt(0));
      document.fonts.add(await new FontFace("outlines", font).load());
      const context = new OffscreenCanvas(${WIDTH}, ${HEIGHT}).getContext("2d", { willReadFrequently: true });
      context.font = "${SIZE}px outlines";
      return ${JSON.stringify(CHARACTERS)}.map((character) => {
        context.clearRect(0, 0, ${WIDTH}, ${HEIGHT});
        context.fillText(character, ${X}, ${Y});
        const { data } = context.getImageData(0, 0, ${WIDTH}, ${HEIGHT});
        return { width: context.measureText(character).width, ink: [...data].filter((_, i) => i % 4 === 3) };
      });
    })()`);
  } finally {
    await page.close();
  }
}

test.each(["Regular", "Bold"] as const)("draws characters as Chromium does: %s", async (name) => {
  const weight = name === "Bold" ? "bold" : "regular";
  const expected = await drawInChromium(name);
  for (const [i, character] of CHARACTERS.entries()) {
    const picture = createPicture({
      width: WIDTH,
      height: HEIGHT,
      ground: [255, 255, 255],
      colors: [[0, 0, 0]],
    });
    drawText(picture, character, { weight, size: SIZE, x: X, y: Y, color: 0 });
    const drawn = decodePng(await picture.toPng());
    const { width, ink } = expected[i]!;
    const differences = ink.map((inked, at) => {
      const color = drawn.colorAt(at % WIDTH, Math.floor(at / WIDTH));
      return Math.abs(255 - Number.parseInt(color.slice(1, 3), 16) - inked);
    });
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
    expect([character, sum(differences) < 0.05 * sum(ink)]).toEqual([character, true]);
    expect(Math.abs(measure(character, { weight, size: SIZE }) - width)).toBeLessThan(0.1);
  }
});
