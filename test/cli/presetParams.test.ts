import { expect, test } from "vitest";
import { parseTypedParam, readPresetParams } from "../../src/cli/presetParams.ts";
import type { PresetView } from "../../src/client/index.ts";

const properties = { list: { type: "array" }, isOpen: { type: "boolean" }, min: { anyOf: [] } };
const preset = { parameters: { properties } } as unknown as PresetView;
const read = (...typed: readonly string[]) => readPresetParams(typed.map(parseTypedParam), preset);

test("a list's name stands once for each entry, or takes a JSON array", () => {
  expect(read("list=ann", "list=b=c")).toEqual({ list: ["ann", "b=c"] });
  expect(read('list=["just, one"]')).toEqual({ list: ["just, one"] });
  expect(read("list=[x")).toEqual({ list: ["[x"] });
});

test("numbers stay text, a boolean becomes one, and the last of two values counts", () => {
  expect(read("min=1", "min=2", "isOpen=true")).toEqual({ min: "2", isOpen: true });
  expect(read("isOpen=maybe", "__proto__=x")).toEqual(
    Object.assign(Object.create(null), { isOpen: "maybe", ["__proto__"]: "x" }),
  );
});

test("what is not name=value", () => {
  expect(() => parseTypedParam("=1")).toThrow("name=value");
  expect(() => parseTypedParam("min")).toThrow("name=value");
});
