import { afterAll, beforeAll, expect, test } from "vitest";
import { createSandboxPool, type SandboxPool } from "../../sandbox/index.ts";
import { checkExamples } from "../../src/presets/checkPreset.ts";
import { loadPreset } from "../../src/presets/loadPreset.ts";
import { checkPresetCommand } from "../../src/requests/accept/commandChecker.ts";
import { dryRunPreset } from "../../src/requests/accept/dryRun.ts";
import type { FunctionFailedError } from "../../src/requests/accept/runDetails.ts";
import { makeFolder, writePreset } from "./folders.ts";

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

test("an error without a place has none", async () => {
  const folder = await makeFolder();
  await writePreset(folder, "echo", { source: "throw 'no';" });
  const preset = await loadPreset(folder, "echo");
  expect(await checkExamples(preset, pool.run)).toMatchObject([{ file: "echo/preset.json" }]);
});
