import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { encodeQrCode } from "../../src/lib/qrCode.ts";

const rowsOf = (text: string) =>
  encodeQrCode(text)!.map((row) => row.map((isDark) => (isDark ? "#" : ".")).join(""));

test("draws what uqr 0.1.3 draws at level M under mask 0", () => {
  expect(rowsOf("tyche")).toEqual([
    "#######...##..#######",
    "#.....#.#####.#.....#",
    "#.###.#..###..#.###.#",
    "#.###.#.......#.###.#",
    "#.###.#.###.#.#.###.#",
    "#.....#.....#.#.....#",
    "#######.#.#.#.#######",
    ".........####........",
    "#.#.#.#..###....#..#.",
    ".####..####...#..##.#",
    "..#...####..#...#####",
    "...#.#.#.#....#....#.",
    "......#####.#.#.#..##",
    "........####.#.#.#..#",
    "#######..###.###.#.##",
    "#.....#....###.##....",
    "#.###.#.##.#.###...##",
    "#.###.#..#....##.###.",
    "#.###.#.#...#...#.#.#",
    "#.....#.......#....#.",
    "#######.#.#.#.###..##",
  ]);
});

test.each([
  [
    "several blocks of an address",
    "http://127.0.0.1:3000/r/req_01m8gb9fm1aze13kc348t80jhf",
    33,
    "4fa921cab042e0ba404d18b2a8f0a739ee343b5286887b55e5fafab35cb5f50d",
  ],
  [
    "as much as fits, in UTF-8",
    "é".repeat(53),
    41,
    "04425f802dd084452ddd3e3ff64d194a9e90097f917d5069420f9362fa0d5fdb",
  ],
])("draws %s as uqr 0.1.3 does", (_, text, size, digest) => {
  const rows = encodeQrCode(text)!;
  const bits = rows.map((row) => row.map(Number).join("")).join("\n");
  expect([rows.length, createHash("sha256").update(bits).digest("hex")]).toEqual([size, digest]);
});

test("has no code for a text that does not fit", () => {
  expect(encodeQrCode("x".repeat(106))).toHaveLength(41);
  expect(encodeQrCode("x".repeat(107))).toBeUndefined();
});
