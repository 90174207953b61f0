import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { describeForPython, PYTHON_FILE } from "../../pack/pythonTypes.ts";
import { describeShapes, SHAPES_FILE } from "../../pack/answerShapes.ts";
import { describeErrors, ERRORS_FILE } from "../../pack/clientErrors.ts";
import { describeTypes, TYPES_FILE } from "../../pack/apiTypes.ts";

test("has the types that follow from the schemas; `npm run types` writes them", async () => {
  expect(await describeTypes()).toBe(readFileSync(TYPES_FILE, "utf8"));
});

test("has the classes of the client's errors that follow from the table; `npm run types` writes those, too", () => {
  expect(describeErrors()).toBe(readFileSync(ERRORS_FILE, "utf8"));
});

test("has the types of the Python client that follow from them; `npm run types` writes those, too", () => {
  expect(describeForPython()).toBe(readFileSync(PYTHON_FILE, "utf8"));
});

test("has the shapes of the commands' answers that follow from them; `npm run types` writes those, too", () => {
  expect(describeShapes()).toBe(readFileSync(SHAPES_FILE, "utf8"));
});
