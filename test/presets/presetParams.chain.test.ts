import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { InvalidParameterError, type ParameterViolation } from "../../src/lib/invalidParameter.ts";
import { loadPreset } from "../../src/presets/loadPreset.ts";
import type { Preset } from "../../src/presets/preset.ts";
import { parsePresetParams } from "../../src/presets/presetParams.ts";

const plugins = path.resolve(import.meta.dirname, "../../plugins");
let range: Preset;
let lotto: Preset;
let nDice: Preset;
let coinflip: Preset;

beforeAll(async () => {
  [range, lotto, nDice, coinflip] = (await Promise.all(
    ["range", "lotto", "nDice", "coinflip"].map((name) => loadPreset(plugins, name)),
  )) as [Preset, Preset, Preset, Preset];
});

function violationsOf(act: () => unknown): readonly ParameterViolation[] {
  try {
    act();
  } catch (error) {
    if (error instanceof InvalidParameterError) return error.details;
    throw error;
  }
  return [];
}

describe("parsePresetParams", () => {
  test("fills in the defaults", () => {
    expect(parsePresetParams(range, {}).args).toEqual(["1", "10"]);
    expect(parsePresetParams(nDice, {}).args).toEqual(["20", "10"]);
    expect(parsePresetParams(lotto, { list: ["a"] }).args).toEqual(["1", '["a"]']);
    expect(parsePresetParams(coinflip, {})).toEqual({ params: {}, args: [] });
  });

  test("a whole number past 2^53 where a text belongs is refused as any other number", () => {
    const large = 99999999999999999999n;
    for (const number of [5, large]) {
      expect(violationsOf(() => parsePresetParams(lotto, { numberOfWinners: 1, list: [number] }))).toEqual([
        { path: "/list/0", message: `must be a string; got ${number}` },
      ]);
    }
    expect(parsePresetParams(range, { max: large }).params).toEqual({ min: "1", max: `${large}` });
    expect(violationsOf(() => parsePresetParams(range, { max: 10n ** 78n }))).toEqual([
      { path: "/max", message: "must have at most 78 digits, not 79" },
    ]);
  });

  test("a JSON integer, leading zeros and minus zero are the same value as the plain string", () => {
    expect(parsePresetParams(range, { min: -5, max: 5 }).params).toEqual({ min: "-5", max: "5" });
    expect(parsePresetParams(range, { min: "-0", max: "007" }).params).toEqual({ min: "0", max: "7" });
  });

  test("the parsed parameters parse to themselves, and what was given is not changed", () => {
    const given = Object.freeze({ list: Object.freeze(["é", "b, c", ""]), numberOfWinners: 2 });
    const call = parsePresetParams(lotto, given);
    expect(parsePresetParams(lotto, call.params)).toEqual(call);
    expect(call.args).toEqual(["2", '["é","b, c",""]']);
  });

  test("takes the full range of int256", () => {
    const [min, max] = [String(-(2n ** 255n)), String(2n ** 255n - 1n)];
    expect(parsePresetParams(range, { min, max }).args).toEqual([min, max]);
  });

  test("min may equal max", () => {
    expect(parsePresetParams(range, { min: "4", max: "4" }).args).toEqual(["4", "4"]);
  });

  test("lists every violation at once", () => {
    expect(violationsOf(() => parsePresetParams(nDice, { numFaces: "1", numDice: "101", x: 1 }))).toEqual([
      { path: "/x", message: "is unknown; nDice takes numFaces, numDice" },
      { path: "/numFaces", message: "must be at least 2, not 1" },
      { path: "/numDice", message: "must be at most 100, not 101" },
    ]);
  });

  test("asks what a misspelt name means, of the preset's and of those that all requests take", () => {
    expect(violationsOf(() => parsePresetParams(nDice, { numdice: "1", netwrok: "sepolia" }))).toEqual([
      { path: "/numdice", message: "is unknown; nDice takes numFaces, numDice (did you mean numDice?)" },
      { path: "/netwrok", message: "is unknown; nDice takes numFaces, numDice (did you mean network?)" },
    ]);
  });

  test("min above max", () => {
    expect(violationsOf(() => parsePresetParams(range, { min: "10", max: "5" }))).toEqual([
      { path: "/min", message: "must be at most max, which is 5, not 10" },
    ]);
    expect(violationsOf(() => parsePresetParams(range, { min: "11" }))).toHaveLength(1);
  });

  test("more winners than entries", () => {
    expect(violationsOf(() => parsePresetParams(lotto, { numberOfWinners: 3, list: ["a", "b"] }))).toEqual([
      { path: "/numberOfWinners", message: "must be at most the length of list, which is 2, not 3" },
    ]);
  });

  test("entries that are no strings, an empty and a missing list", () => {
    expect(violationsOf(() => parsePresetParams(lotto, { list: ["a", 1, null] }))).toEqual([
      { path: "/list/1", message: "must be a string; got 1" },
      { path: "/list/2", message: "must be a string; got null" },
    ]);
    expect(violationsOf(() => parsePresetParams(lotto, { list: [] }))).toContainEqual({
      path: "/list",
      message: "must have at least 1 item; got 0",
    });
    expect(violationsOf(() => parsePresetParams(lotto, {}))).toEqual([
      { path: "/list", message: "is required" },
    ]);
    expect(violationsOf(() => parsePresetParams(lotto, { list: "a,b" }))).toEqual([
      { path: "/list", message: 'must be an array; got "a,b"' },
    ]);
  });

  test("half of a surrogate pair", () => {
    expect(violationsOf(() => parsePresetParams(lotto, { list: ["\ud800"] }))).toMatchObject([
      { path: "/list/0" },
    ]);
  });

  test("lists at most 100 violations, and counts the others", () => {
    const violations = violationsOf(() =>
      parsePresetParams(lotto, { list: Array.from({ length: 150 }, () => 0) }),
    );
    expect(violations).toHaveLength(101);
    expect(violations.at(-1)).toEqual({ path: "", message: "and 50 more" });
  });

  const notDecimal = [
    "1e3",
    " 1",
    "1 ",
    "0x10",
    "+1",
    "1.0",
    "",
    "-",
    "--1",
    "١",
    "1\n",
    "1_000",
    "Infinity",
    1.5,
    true,
    null,
    [1],
    { a: 1 },
  ];
  test.each(notDecimal)("%j is no whole number", (min) => {
    expect(violationsOf(() => parsePresetParams(range, { min }))).toMatchObject([
      { path: "/min", message: expect.stringContaining("must be a whole number in decimal digits") },
    ]);
  });

  test("an integer that JSON has already rounded, and one with too many digits", () => {
    expect(violationsOf(() => parsePresetParams(range, { max: 2 ** 53 }))).toMatchObject([
      { path: "/max", message: expect.stringContaining("as a string") },
    ]);
    expect(violationsOf(() => parsePresetParams(range, { max: "9".repeat(1_000) }))).toEqual([
      { path: "/max", message: "must have at most 78 digits, not 1000" },
    ]);
  });

  test("one beyond int256", () => {
    expect(violationsOf(() => parsePresetParams(range, { max: String(2n ** 255n) }))).toMatchObject([
      { path: "/max" },
    ]);
  });

  test("members that every object has are unknown parameters like any other", () => {
    const raw = JSON.parse('{"__proto__":{"min":"1"},"constructor":1}') as Record<string, unknown>;
    expect(violationsOf(() => parsePresetParams(range, raw)).map(({ path }) => path)).toEqual([
      "/__proto__",
      "/constructor",
    ]);
  });
});

describe("on a network", () => {
  test("numbers and small texts fit", () => {
    for (const [preset, raw] of [
      [range, {}],
      [coinflip, {}],
      [nDice, {}],
      [lotto, { list: ["a"] }],
    ] as const) {
      expect(violationsOf(() => parsePresetParams(preset, raw, "sepolia"))).toEqual([]);
    }
  });

  test("the bound is exact: 93 dice of 1,000,000,000 faces fit, 94 do not", () => {
    const fits = (numDice: number): boolean =>
      violationsOf(() => {
        parsePresetParams(nDice, { numDice, numFaces: "1000000000" }, "sepolia");
      }).length === 0;
    expect([fits(93), fits(94)]).toEqual([true, false]);
  });

  test("names what does fit", () => {
    const params = { numDice: 100, numFaces: "1000000000" };
    expect(violationsOf(() => parsePresetParams(nDice, params, "sepolia"))).toEqual([
      {
        path: "/numDice",
        message:
          "the result can take 1101 bytes, and sepolia returns at most 1024: must be at most 93 with numFaces 1000000000, not 100",
      },
      {
        path: "/numFaces",
        message:
          "the result can take 1101 bytes, and sepolia returns at most 1024: must be at most 999999999 with numDice 100, not 1000000000",
      },
    ]);
  });

  test("names how many winners of these fit", () => {
    const params = { numberOfWinners: 120, list: Array.from({ length: 160 }, () => "é".repeat(6)) };
    expect(violationsOf(() => parsePresetParams(lotto, params, "sepolia"))).toEqual([
      {
        path: "/numberOfWinners",
        message:
          "the result can take 1687 bytes, and sepolia returns at most 1024: must be at most 72 with these list, not 120",
      },
    ]);
  });

  test("says by how much the entries are too long when not even one winner fits", () => {
    const params = { list: ["a", "b".repeat(1_100)] };
    expect(violationsOf(() => parsePresetParams(lotto, params, "sepolia"))).toEqual([
      {
        path: "/list",
        message:
          "the result can take 1109 bytes, and sepolia returns at most 1024: its longest items must be at least 85 bytes shorter",
      },
    ]);
  });
});
