import { afterAll, beforeAll, expect, test } from "vitest";
import { createSandboxPool, type SandboxPool } from "../../sandbox/index.ts";
import { checkDistributions } from "../../src/presets/checkDistributions.ts";
import { checkExamples } from "../../src/presets/checkPreset.ts";
import { loadPreset } from "../../src/presets/loadPreset.ts";
import { checkPresetCommand } from "../../src/requests/accept/commandChecker.ts";
import { dryRunPreset } from "../../src/requests/accept/dryRun.ts";
import type { FunctionFailedError } from "../../src/requests/accept/runDetails.ts";
import { exampleDefinition, makeFolder, writePreset } from "./folders.ts";

let pool: SandboxPool;
beforeAll(() => {
  pool = createSandboxPool({});
});
afterAll(() => pool.close());

const IMPORT = 'import { createDraw } from "tyche:draw";';

/** Sources that fail with every word, and the positions in the text as its author wrote it. */
const sources: readonly [why: string, source: string, place: { line: number; column: number }][] = [
  ["thrown on the first line", "throw Error('no');", { line: 1, column: 7 }],
  ["thrown after comments", "// one\n\n  throw Error('no');", { line: 3, column: 9 }],
  [
    "a name that there is not",
    "const text = args[0];\nconst times = Number(args[1]);\nif (times > 0) {\n  undeclared(text);\n}",
    { line: 4, column: 3 },
  ],
  [
    "in a function of the source",
    `${IMPORT}\nconst draw = createDraw(bytesArgs[0]);\nconst fail = () => {\n  draw(6n);\n  null.member;\n};\nfail();`,
    { line: 5, column: 8 },
  ],
  [
    "inside an imported module: the call that led there",
    `${IMPORT}\nconst draw = createDraw(bytesArgs[0]);\n\n  draw(6);`,
    { line: 4, column: 3 },
  ],
  [
    "that V8 describes by the code, in which names are short",
    "const tables = { COMMON: [1] };\nconst tier = args[0];\nfor (const item of tables[tier.toUpperCase()]) throw Error(item);",
    { line: 3, column: 26 },
  ],
  ["behind a character of two code units", 'const face = "🎲"; throw Error(face);', { line: 1, column: 26 }],
  [
    "behind a line break of the minified text",
    "const text = `\n`;\nthrow Error(text + bytesArgs);",
    { line: 3, column: 7 },
  ],
];

test.each(sources)("%s", async (_why, source, place) => {
  const folder = await makeFolder();
  await writePreset(folder, "echo", { source });
  const preset = await loadPreset(folder, "echo");
  expect(await checkExamples(preset, pool.run)).toMatchObject([{ file: "echo/source.js", ...place }]);
  const { args } = checkPresetCommand(
    { kind: "preset", network: "sepolia", preset: "echo", params: {} },
    { preset, network: {}, dapp: {} },
  ).progress;
  const refusal = await dryRunPreset(preset, args, { pool, dappId: "dapp" }).then(
    () => undefined,
    (error: FunctionFailedError) => error.details,
  );
  expect(refusal).toMatchObject({ success: false, ...place });
});

test("an error is described by the names that the author wrote", async () => {
  const folder = await makeFolder();
  const source = "const tables = {};\nfor (const item of tables[args[0].toUpperCase()]) throw Error(item);";
  await writePreset(folder, "echo", { source });
  const preset = await loadPreset(folder, "echo");
  expect(await checkExamples(preset, pool.run)).toMatchObject([
    { reason: expect.stringContaining("tables[args[0].toUpperCase] is not iterable") },
  ]);
  const request = { pool, dappId: "dapp" };
  await expect(dryRunPreset(preset, ["a", "1"], request)).rejects.toMatchObject({
    details: { err: expect.stringContaining("tables[args[0].toUpperCase] is not iterable") },
  });
});

test("an error of a draw has the place in the text that its author wrote", async () => {
  const folder = await makeFolder();
  const source =
    "// one\n\nif (bytesArgs[0].endsWith('7')) throw Error('no gold');\nreturn Functions.encodeString('aa');";
  const distributions = [{ params: { text: "a" }, outcomes: { aa: 1, aaa: 1 } }];
  await writePreset(folder, "echo", { source, definition: { ...exampleDefinition("echo"), distributions } });
  const preset = await loadPreset(folder, "echo");
  expect(await checkDistributions(preset, pool.run, { draws: 1_000 })).toMatchObject([
    {
      file: "echo/source.js",
      line: 3,
      column: 39,
      reason: expect.stringMatching(
        /^distribution 1: with the word 0x[0-9a-f]{63}7 the source fails: no gold$/,
      ),
    },
  ]);
});

test("an error without a place has none", async () => {
  const folder = await makeFolder();
  await writePreset(folder, "echo", { source: "throw 'no';" });
  const preset = await loadPreset(folder, "echo");
  expect(await checkExamples(preset, pool.run)).toMatchObject([{ file: "echo/preset.json" }]);
});
