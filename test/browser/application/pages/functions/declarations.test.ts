import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readDeclarations } from "../../../../../src/browser/application/pages/functions/declarations.ts";

const declarations = readDeclarations(
  readFileSync(new URL("../../../../../sandbox/functions.d.ts", import.meta.url), "utf8"),
);
const find = (owner: string, name: string) =>
  declarations.find((one) => one.owner === owner && one.name === name);

test("the nodes' library is known with its types and what they say of it", () => {
  expect(find("", "args")).toMatchObject({ type: expect.stringContaining("string[]") });
  expect(find("Functions", "makeHttpRequest")).toMatchObject({
    type: expect.stringContaining("Promise"),
    doc: expect.stringMatching(/\w/),
  });
  expect(find("Functions", "encodeUint256")).toBeDefined();
  expect(find("HttpRequest", "url")).toBeDefined();
});

test("no declaration holds a comment or a part of another", () => {
  for (const { name, type, doc } of declarations) {
    expect({ name, type }).toEqual({ name, type: expect.not.stringMatching(/\/\*|\*\/|@doc|\n/) });
    expect({ name, doc }).toEqual({ name, doc: expect.not.stringMatching(/^\s|\*\/|\n/) });
  }
});
