import { readFileSync, readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";

const FOLDER = new URL("../../src/web/static/", import.meta.url);
const css = readFileSync(new URL("style.css", FOLDER), "utf8");
const colours = new Map(
  [...css.matchAll(/--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)].map(
    ([, name, light, dark]) => [name!, [light!, dark!] as const],
  ),
);

/** WCAG 2.2, "relative luminance" and "contrast ratio". */
function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(one: string, other: string): number {
  const [lighter, darker] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
  return (lighter + 0.05) / (darker + 0.05);
}

describe.each(["light", "dark"] as const)("colours of the %s scheme", (scheme) => {
  const of = (name: string): string => colours.get(name)![scheme === "light" ? 0 : 1];

  test.each(["ink", "faint", "accent", "bad", "busy"])(
    "text in %s can be read on every ground (WCAG AA, 4.5)",
    (name) => {
      for (const ground of ["ground", "panel", "code"])
        expect(contrast(of(name), of(ground))).toBeGreaterThanOrEqual(4.5);
    },
  );

  test("the text of a button can be read, and the edges of fields be seen (WCAG AA, 3)", () => {
    expect(contrast(of("on-accent"), of("accent"))).toBeGreaterThanOrEqual(4.5);
    for (const ground of ["ground", "panel"])
      expect(contrast(of("edge"), of(ground))).toBeGreaterThanOrEqual(3);
  });
});

test("no style or script brings anything from elsewhere", () => {
  const texts = readdirSync(FOLDER).map((name) => readFileSync(new URL(name, FOLDER), "utf8"));
  expect(texts.join("\n").replaceAll('xmlns="http://www.w3.org/2000/svg"', "")).not.toMatch(
    /https?:|@import|url\(/,
  );
});
