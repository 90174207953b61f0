import { expect, test } from "vitest";
import { DEFAULT_PRESETS_FOLDER } from "../../../../src/requests/accept/presetFolder.ts";
import { readPresetFolder } from "../../../../src/app/tools/presetTools.ts";
import type { PresetView } from "../../../../src/client/index.ts";
import { createFields, readParams } from "../../../../src/browser/application/parts/presetFields.ts";

const makePreset = (properties: PresetView["parameters"], required: string[] = []): PresetView => ({
  name: "loot",
  title: "Loot",
  description: "",
  parameters: { type: "object", properties, required },
  parameterOrder: Object.keys(properties),
  source: "",
  value: { type: "string" },
  returnType: "string",
  examples: [],
});

test("every parameter of the presets that come with Tyche has a title, and its digits", async () => {
  const presets = (await readPresetFolder(DEFAULT_PRESETS_FOLDER)).map(({ preset }) => preset!);
  const fields = presets.flatMap((preset) => createFields(preset as unknown as PresetView));
  expect(fields.map(({ name, title, kind, isNumeric }) => [name, title, kind, isNumeric])).toEqual([
    ["numberOfWinners", "Winners", "text", true],
    ["list", "Entries", "lines", false],
    ["numFaces", "Faces of each die", "text", true],
    ["numDice", "Dice", "text", true],
    ["min", "From", "text", false],
    ["max", "To", "text", false],
  ]);
});

test("choices are read as what they stand for, a pasted list entry by entry", () => {
  const preset = makePreset({
    kind: { type: "string", enum: ["sword", "bow"] },
    isRare: { type: "boolean", default: false },
    names: { type: "array", items: { type: "string" } },
  });
  expect(createFields(preset).map(({ choices, fallback }) => [choices, fallback])).toEqual([
    [["sword", "bow"], ""],
    [["true", "false"], "false"],
    [undefined, ""],
  ]);
  const given: Record<string, string> = {
    kind: "",
    isRare: "true",
    names: "\r\nAnn\r\n  \r\n Bob, Cy\r\n\r\n",
  };
  expect({ ...readParams(preset, (name) => given[name]!) }).toEqual({
    isRare: true,
    names: ["Ann", " Bob, Cy"],
  });
});
