import { execFileSync } from "node:child_process";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test, vi } from "vitest";
import { checkExamples } from "../../src/presets/checkPreset.ts";
import { loadPreset } from "../../src/presets/loadPreset.ts";
import { PresetBrokenError } from "../../src/presets/presetProblem.ts";
import { EXAMPLE_SOURCE, exampleDefinition, makeFolder, writePreset, ZERO_WORD } from "./folders.ts";
import { runHere } from "./runHere.ts";

async function loadBroken(folder: string, name = "echo"): Promise<string> {
  const error = await loadPreset(folder, name).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(PresetBrokenError);
  return (error as PresetBrokenError).message;
}

test("reads a preset and takes comments, blanks and long names out of its source", async () => {
  const folder = await makeFolder();
  await writePreset(folder, "echo", {});
  const preset = await loadPreset(folder, "echo");
  expect(preset).toMatchObject({ name: "echo", returnType: "string", parameterOrder: ["text", "times"] });
  expect(preset.source).toMatchInlineSnapshot(
    `"const[e,n]=args;return Functions.encodeString(e.repeat(Number(n)))"`,
  );
  expect(preset.sourceBytes).toBe(preset.source.length);
  expect(preset.sourceHash).toMatch(/^0x[0-9a-f]{64}$/);
});

test("the same text gives the same source and hash again", async () => {
  const folder = await makeFolder();
  await writePreset(folder, "echo", {});
  const [first, second] = [await loadPreset(folder, "echo"), await loadPreset(folder, "echo")];
  expect(second.sourceHash).toBe(first.sourceHash);
});

test("compiles the parameters of a preset and nothing else, whatever was loaded before", async () => {
  const folder = await makeFolder();
  await writePreset(folder, "echo", {});
  await loadPreset(folder, "echo");
  // Compiling the meta-schema as well takes ten times as long, and 200 presets may be loaded at once.
  const compiled = vi.spyOn(Ajv2020.prototype, "compile");
  const metaSchemas = vi.spyOn(Ajv2020.prototype, "addMetaSchema");
  await loadPreset(folder, "echo");
  expect(compiled).toHaveBeenCalledTimes(1);
  expect(metaSchemas).not.toHaveBeenCalled();
  vi.restoreAllMocks();
});

test("the published parameters say in standard words what a decimal takes", async () => {
  const folder = await makeFolder();
  await writePreset(folder, "echo", {});
  const { parameters } = await loadPreset(folder, "echo");
  expect(parameters).toMatchObject({
    additionalProperties: false,
    properties: {
      times: {
        anyOf: [
          { type: "string", pattern: "^[0-9]{1,78}$" },
          { type: "integer", minimum: 1, maximum: 1000 },
        ],
        default: "2",
      },
    },
  });
  expect(JSON.stringify(parameters)).not.toContain("decimal");
});

test("an imported module becomes part of the source, under the name that it is imported by", async () => {
  const folder = await makeFolder();
  const source = (statement: string, name: string): string =>
    `${statement}\nreturn Functions.encodeString("a".repeat(Number(${name}("0x" + "00".repeat(32))(3n)) + 2))`;
  await writePreset(folder, "echo", {
    source: source('import { createDraw } from "tyche:draw";', "createDraw"),
  });
  await writePreset(folder, "other", {
    source: source("import{createDraw as draw}from'tyche:draw'", "draw"),
  });
  const [echo, other] = [await loadPreset(folder, "echo"), await loadPreset(folder, "other")];
  expect(echo.source).not.toContain("import");
  expect(echo.source).toContain("657870616e642033322d62797465206b");
  expect(other.sourceBytes).toBe(echo.sourceBytes);
  expect(await checkExamples(echo, runHere)).toEqual([]);
  expect(await checkExamples(other, runHere)).toEqual([]);
});

test("text that only looks like an import stays", async () => {
  const folder = await makeFolder();
  const source = `// import { createDraw } from "tyche:draw";\nreturn Functions.encodeString(\`\nimport { createDraw } from "tyche:draw";\`)`;
  await writePreset(folder, "echo", { source });
  expect((await loadPreset(folder, "echo")).source).toBe(
    'return Functions.encodeString(`\nimport { createDraw } from "tyche:draw";`)',
  );
});

describe("files that can't be read", () => {
  test("a name that is no folder's", async () => {
    expect(await loadBroken(await makeFolder(), "../up")).toContain("begins with a letter");
  });

  test("both files are missing", async () => {
    const folder = await makeFolder();
    await mkdir(path.join(folder, "echo"));
    expect(await loadBroken(folder)).toBe("echo/preset.json: is missing\necho/source.js: is missing");
  });

  test("a link in the place of a file, or of the folder", async () => {
    const folder = await makeFolder();
    await writePreset(folder, "echo", {});
    await rm(path.join(folder, "echo", "source.js"));
    await symlink("/etc/hostname", path.join(folder, "echo", "source.js"));
    await symlink(path.join(folder, "echo"), path.join(folder, "other"));
    expect(await loadBroken(folder)).toContain("echo/source.js: is a symbolic link");
    expect(await loadBroken(folder, "other")).toBe("other: is not a folder");
  });

  test("a folder that changes places with a link while it is read gives nothing of where the link leads", async () => {
    const [folder, outside] = [await makeFolder(), await makeFolder()];
    await writePreset(folder, "echo", {});
    await writePreset(outside, "echo", { source: "return Functions.encodeString('outside')" });
    const [place, kept, link] = ["echo", ".kept", ".link"].map((name) => path.join(folder, name)) as [
      string,
      string,
      string,
    ];
    await symlink(path.join(outside, "echo"), link);
    let isReading = true;
    const swap = async (): Promise<void> => {
      while (isReading) {
        await rename(place, kept);
        await rename(link, place);
        await rename(place, link);
        await rename(kept, place);
      }
    };
    const swapping = swap();
    const seen = new Set<string>();
    for (let i = 0; i < 60; i += 1) {
      const text = await loadPreset(folder, "echo").then(
        ({ source }) => source,
        (error: Error) => error.message,
      );
      seen.add(text.includes("outside") ? "outside" : text.includes("repeat") ? "inside" : "refused");
    }
    isReading = false;
    await swapping;
    expect(seen).not.toContain("outside");
  });

  test("a pipe in the place of a file does not hang the loader", async () => {
    const folder = await makeFolder();
    await writePreset(folder, "echo", {});
    await rm(path.join(folder, "echo", "source.js"));
    execFileSync("mkfifo", [path.join(folder, "echo", "source.js")]);
    expect(await loadBroken(folder)).toBe("echo/source.js: is not a regular file");
  });

  test("a folder in the place of a file", async () => {
    const folder = await makeFolder();
    await writePreset(folder, "echo", {});
    await rm(path.join(folder, "echo", "source.js"));
    await mkdir(path.join(folder, "echo", "source.js"));
    expect(await loadBroken(folder)).toBe("echo/source.js: is not a regular file");
  });

  test("files over their size limits", async () => {
    const folder = await makeFolder();
    await writePreset(folder, "echo", { definition: " ".repeat(65_537), source: "/".repeat(30_721) });
    expect(await loadBroken(folder)).toBe(
      "echo/preset.json: is larger than 65536 bytes\necho/source.js: is larger than 30720 bytes",
    );
  });

  test("bytes that are not UTF-8", async () => {
    const folder = await makeFolder();
    await writePreset(folder, "echo", {});
    await writeFile(path.join(folder, "echo", "source.js"), Buffer.from([0x2f, 0x2f, 0xff]));
    expect(await loadBroken(folder)).toBe("echo/source.js: is not UTF-8 text");
  });
});

describe("preset.json", () => {
  const list = { as: "list", separator: "," };
  const cases: readonly [why: string, definition: unknown, reason: string][] = [
    ["an empty file", "", "echo/preset.json:1:1: not JSON: expected a value, the text ends"],
    [
      "a comma too many",
      '{\n  "name": "echo",\n}',
      'echo/preset.json:3:1: not JSON: expected a member name in double quotes, found "}"',
    ],
    [
      "a text behind the end",
      "{} x",
      'echo/preset.json:1:4: not JSON: expected the end of the text, found "x"',
    ],
    [
      "a member twice",
      '{"a":1,"a":2}',
      'echo/preset.json:1:8: not JSON: the name "a" appears twice in one object',
    ],
    ["__proto__", '{"__proto__":{}}', 'echo/preset.json:1:2: not JSON: the name "__proto__" is not allowed'],
    [
      "deep nesting",
      "[".repeat(5_000),
      'echo/preset.json:1:33: not JSON: expected at most 32 levels of nesting, found "["',
    ],
    ["an array", "[]", "echo/preset.json:1:1: must be an object; got an array"],
  ];
  test.each(cases)("%s", async (_why, definition, reason) => {
    const folder = await makeFolder();
    await writePreset(folder, "echo", { definition });
    expect(await loadBroken(folder)).toBe(reason);
  });

  const changes: readonly [why: string, change: Record<string, unknown>, reason: string][] = [
    [
      "another name than the folder's",
      { name: "Echo" },
      'preset.json:2:11: name: must be the folder\'s name, "echo", not "Echo"',
    ],
    ["an unknown member", { nam: 1 }, "nam: is not a member that is known here"],
    [
      "a type of result that there is not",
      { returnType: "bytes" },
      "returnType: must be one of string, uint256, int256",
    ],
    ["no example", { examples: [] }, "examples: must have at least 1 item; got 0"],
    ["args without a parameter", { args: ["text"] }, 'args: must list every parameter; "times" is missing'],
    [
      "args with a stranger",
      { args: ["text", "times", "tmes"] },
      'args[2]: "tmes" is not one of the parameters (did you mean times?)',
    ],
    ["args with a parameter twice", { args: ["text", "times", "text"] }, 'args[2]: "text" occurs twice'],
    ["no bound on a text", { maxResultBytes: undefined }, 'returnType: "string" needs "maxResultBytes"'],
    [
      "a bound that can't be read",
      { maxResultBytes: "2 * bites(text)" },
      'maxResultBytes: there is no function "bites"; there are digits, bytes, count, longest, min, max (at character 5)',
    ],
    ["an unknown way to show", { show: { as: "wheel" } }, "as: "],
    ["a coin without sides", { show: { as: "coin" } }, 'show: needs "sides" where "as" is "coin"'],
    ["a coin of text", { show: { as: "coin", sides: ["a", "b"] } }, 'as: "coin" is only for'],
    ["dice with sides", { show: { as: "dice", sides: ["a", "b"] } }, "sides: is not allowed"],
    ["faces that are no number", { show: { as: "dice", faces: "text" } }, 'faces: "text" is not a'],
    ["a list from text", { show: { as: "list", separator: ",", from: "text" } }, 'from: "text" is not a'],
    [
      "a coin's value that is text",
      {
        returnType: "uint256",
        maxResultBytes: undefined,
        show: { as: "coin", sides: ["a", "b"] },
        value: { type: "string" },
      },
      'type: must be "boolean" where',
    ],
    ["a text's value that is a list", { value: { type: "array" } }, 'type: must be "string" without "show"'],
    [
      "a list of numbers",
      { show: list, value: { type: "array", items: { type: "integer" } } },
      'items: must have "type"',
    ],
    ["a list's value without items", { show: list, value: { type: "array" } }, 'items: must have "type"'],
    [
      "a text with a maximum",
      { value: { type: "string", maximum: 3 } },
      "is not a member that is known here",
    ],
    [
      "a text with items",
      { value: { type: "string", maxItems: 3 } },
      'maxItems: is not for "type": "string"',
    ],
    ["a slow pattern of a value", { value: { type: "string", pattern: "^(a+)+$" } }, "pattern: must begin"],
    ["a list without separator", { show: { as: "list", count: "times" } }, 'show: needs "separator"'],
    ["a bound on a number", { returnType: "uint256" }, "maxResultBytes: is only for"],
    [
      "an example that is refused",
      { examples: [{ params: { times: "0" }, word: `0x${"0".repeat(64)}`, parsedResult: "" }] },
      "times: must be at least 1, not 0",
    ],
    [
      "bounds of a text",
      { distributions: [{ params: {}, bounds: ["0", "5", "5"] }] },
      "bounds: must be in ascending order",
    ],
    [
      "outcomes that are no numbers",
      {
        returnType: "uint256",
        maxResultBytes: undefined,
        distributions: [{ params: {}, outcomes: { a: 1, "1": 1 } }],
      },
      'outcomes: "a" is not the text of a uint256',
    ],
    [
      "a word that is none",
      { examples: [{ params: {}, word: "0x1", parsedResult: "" }] },
      'word: must match ^0x[0-9a-f]{64}$; got "0x1"',
    ],
  ];
  test.each(changes)("%s", async (_why, change, reason) => {
    const folder = await makeFolder();
    await writePreset(folder, "echo", { definition: { ...exampleDefinition("echo"), ...change } });
    expect(await loadBroken(folder)).toContain(reason);
  });

  test("a wrong example and a wrong bound are told at once, with what is wrong in the source", async () => {
    const folder = await makeFolder();
    const wrong = {
      examples: [{ params: { times: "0" }, word: ZERO_WORD, parsedResult: "" }],
      maxResultBytes: "2 * bites(text)",
    };
    const definition = { ...exampleDefinition("echo"), ...wrong };
    await writePreset(folder, "echo", { definition, source: "return (" });
    const problems = await loadBroken(folder);
    for (const part of ["times: must be at least 1", "maxResultBytes: there is no function", "source.js"])
      expect(problems).toContain(part);
  });

  test("what is wrong with members and with the values of others is told at once", async () => {
    const wrong = {
      name: "other",
      descripton: "Repeats a text.",
      title: 5,
      maxResultBytes: "2 * bites(text)",
      show: { as: "coin" },
      examples: [
        { params: { times: "0" }, word: "0x1", parsedResult: "" },
        { params: { txt: "a" }, word: ZERO_WORD, parsedResult: "" },
        { params: [], word: ZERO_WORD, parsedResult: "" },
      ],
      distributions: [{ params: { times: "x" }, bounds: ["5", "0", "1"] }],
    };
    const folder = await makeFolder();
    await writePreset(folder, "echo", { definition: { ...exampleDefinition("echo"), ...wrong } });
    const problems = (await loadBroken(folder)).split("\n").map((line) => line.replace(/^\S+:\d+:\d+: /, ""));
    expect(problems).toMatchInlineSnapshot(`
      [
        "name: must be the folder's name, "echo", not "other"",
        "title: must be a string; got 5",
        "maxResultBytes: there is no function "bites"; there are digits, bytes, count, longest, min, max (at character 5)",
        "times: must be at least 1, not 0",
        "word: must match ^0x[0-9a-f]{64}$; got "0x1"",
        "txt: is unknown; echo takes text, times (did you mean text?)",
        "params: must be an object; got an array",
        "descripton: is not a member that is known here (did you mean description?)",
        "show: needs "sides" where "as" is "coin"",
        "as: "coin" is only for a returnType of "uint256"",
        "times: must be a whole number in decimal digits, such as "10" or 10, not "x"",
        "bounds: must be in ascending order",
        "bounds: are only for whole numbers",
      ]
    `);
  });

  test("nothing is said of what depends on a part with an error", async () => {
    const wrong = {
      parameters: { type: "object", properties: { text: { type: "text" } } },
      examples: [{ params: { times: "0" }, word: ZERO_WORD, parsedResult: "" }],
    };
    const folder = await makeFolder();
    await writePreset(folder, "echo", { definition: { ...exampleDefinition("echo"), ...wrong } });
    expect(await loadBroken(folder)).toMatch(
      /^\S+: type: must be one of string, boolean, array; got "text"$/,
    );
  });

  test.each(["examples", "distributions", "parameters", "args", "show", "value"])(
    "%s that are a number are told as that alone",
    async (member) => {
      const folder = await makeFolder();
      await writePreset(folder, "echo", { definition: { ...exampleDefinition("echo"), [member]: 5 } });
      expect(await loadBroken(folder)).toMatch(new RegExp(`^\\S+: ${member}: must be .*; got 5$`));
    },
  );

  const schemas: readonly [why: string, schema: Record<string, unknown>, reason: string][] = [
    [
      "a keyword outside the list",
      { $ref: "http://example.org" },
      "$ref: is not a member that is known here",
    ],
    [
      "a pattern that could take forever",
      { type: "string", default: "", pattern: "^(a+)+$" },
      "pattern: must begin with ^",
    ],
    [
      "a pattern that is not anchored",
      { type: "string", default: "", pattern: "a*b" },
      "pattern: must begin with ^",
    ],
    [
      "two parts of variable length",
      { type: "string", default: "", pattern: "^a*a*$" },
      "pattern: must begin with ^",
    ],
    [
      "many characters after a part of variable length",
      { type: "string", default: "", pattern: "^a*a{200}b{1}$" },
      "pattern: must begin with ^",
    ],
    ["neither type nor decimal", { default: "" }, 'must have either "decimal" or a "type"'],
    ["both", { type: "string", decimal: {}, default: "1" }, 'must have either "decimal" or a "type"'],
    ["an array without items", { type: "array", default: [] }, '"type": "array" and "items" go together'],
    [
      "a default that is refused",
      { decimal: { maximum: 5 }, default: "6" },
      "default: must be at most 5, not 6",
    ],
    ["no default and not required", { type: "string" }, 'must have a default or be listed in "required"'],
    [
      "atMost a stranger",
      { decimal: { atMost: "x" }, default: "6" },
      'atMost: "x" is not one of the parameters',
    ],
  ];
  test.each(schemas)("a parameter with %s", async (_why, schema, reason) => {
    const definition = {
      ...exampleDefinition("echo"),
      parameters: { type: "object", properties: { one: schema } },
      args: ["one"],
      maxResultBytes: "5",
    };
    const folder = await makeFolder();
    await writePreset(folder, "echo", { definition });
    expect(await loadBroken(folder)).toContain(reason);
  });

  test.each([
    ..."network preset label once beacon confirmations secrets".split(" "),
    "constructor",
    "toString",
  ])("the reserved name %s", async (name) => {
    const definition = {
      ...exampleDefinition("echo"),
      parameters: { type: "object", properties: { [name]: { type: "string", default: "" } } },
      args: [name],
      maxResultBytes: "5",
    };
    const folder = await makeFolder();
    await writePreset(folder, "echo", { definition });
    expect(await loadBroken(folder)).toContain(`"${name}" is a reserved name`);
  });
});

describe("source.js", () => {
  const sources: readonly [source: string, reason: string][] = [
    ["const a = ;", 'echo/source.js:1:11: Unexpected ";"'],
    ["const é = 1;\nreturn é +;", 'echo/source.js:2:11: Unexpected ";"'],
    ["return 1; } function more() {", "must be the body of an async function and nothing after it"],
    ["return 1; }\n/1/\nfunction more() {", "must be the body of an async function and nothing after it"],
    ["}); (function () {", "echo/source.js:1:2"],
    [
      "import a from 'a';",
      'echo/source.js:1:1: a source can import statically from tyche:draw only; write await import("a") for another module',
    ],
    [
      "// one\nimport { createDraws } from 'tyche:draw';",
      'echo/source.js:2:10: tyche:draw exports createDraw and nothing else: import { createDraw } from "tyche:draw"',
    ],
    ["import * as draw from 'tyche:draw';", "echo/source.js:1:8: tyche:draw exports createDraw"],
    [
      "import { createDraw } from 'tyche:draw';\nconst createDraw = 1;",
      "echo/source.js:2:7: Identifier 'createDraw' has already been declared",
    ],
    ["import { createDraw } from 'tyche:draw';\nreturn (;", "echo/source.js:2:9: Unexpected token"],
  ];
  test.each(sources)("%s", async (source, reason) => {
    const folder = await makeFolder();
    await writePreset(folder, "echo", { source });
    expect(await loadBroken(folder)).toContain(reason);
  });

  test("more than can be stored on chain", async () => {
    const folder = await makeFolder();
    await writePreset(folder, "echo", { source: `return "${"x".repeat(24_000)}"` });
    expect(await loadBroken(folder)).toBe(
      "echo/source.js: takes 24008 bytes without comments and blanks; at most 24000 can be stored",
    );
  });

  test("problems of both files are told at once", async () => {
    const folder = await makeFolder();
    await writePreset(folder, "echo", { definition: "{", source: "(" });
    expect((await loadBroken(folder)).split("\n")).toHaveLength(2);
  });
});

test.each([
  ["a call", "const word = args[0];\n  return f(\n\n", "2:12"],
  [
    "a block, behind an import",
    'import { createDraw } from "tyche:draw";\nif (true) {\n  return "é"\n',
    "3:13",
  ],
])("a source that does not close %s has its fault at its end", async (_what, source, place) => {
  const folder = await makeFolder();
  await writePreset(folder, "echo", { source });
  expect(await loadBroken(folder)).toBe(`echo/source.js:${place}: ends before all that it opens is closed`);
});

test("a comment on the last line does not swallow what is put behind the source", async () => {
  const folder = await makeFolder();
  await writePreset(folder, "echo", { source: `${EXAMPLE_SOURCE}// the end` });
  expect((await loadPreset(folder, "echo")).source).not.toContain("//");
});
