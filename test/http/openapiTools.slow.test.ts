import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { API_KEY } from "./exampleService.ts";
import { startPresetHarness } from "./presetHarness.ts";

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, "../..");

const TOOLS = path.join(import.meta.dirname, "openapiTools");
// Inside the project, so that the clients find its modules.
const folder = path.join(TOOLS, ".build");
let description = "";
beforeAll(async () => {
  mkdirSync(folder, { recursive: true });
  const { call, server } = await startPresetHarness();
  ({ text: description } = await call("GET", "/openapi.json", { key: null }));
  await server.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the findings of each linter under its recommended rules. */
async function lint(source: string): Promise<Readonly<Record<"redocly" | "spectral", readonly object[]>>> {
  const file = path.join(folder, "linted.json");
  writeFileSync(file, source);
  const { stdout } = await run(process.execPath, [path.join(TOOLS, "lint.js"), file]);
  return JSON.parse(stdout) as Awaited<ReturnType<typeof lint>>;
}

test("Redocly and Spectral find nothing by their recommended rules, not even a hint", async () => {
  expect(await lint(description)).toEqual({ redocly: [], spectral: [] });
});

test("both find what is wrong", async () => {
  // One operation is enough: the linters take seconds for all of them.
  const broken = {
    ...(JSON.parse(description) as object),
    paths: { "/api/broken": { get: { responses: {} } } },
  };
  const unnamed = expect.objectContaining({ rule: "operation-operationId" }) as object;
  expect(await lint(JSON.stringify(broken))).toMatchObject({
    redocly: expect.arrayContaining([unnamed]) as object,
    spectral: expect.arrayContaining([unnamed]) as object,
  });
});

/** Returns a program that both clients run, given the calls in each client's syntax; it prints the results. */
const journey = (client: string, calls: Readonly<Record<"preset" | "run" | "refused" | "wrong", string>>) => `
${client}
const preset = (await ${calls.preset}).data?.data;
if (preset === undefined || !("vrfv2Hash" in preset)) throw new Error("the call was accepted, not answered");
const hash: string = preset.vrfv2Hash;
const run = (await ${calls.run}).data?.data;
const value: string | undefined = run && "parsedResult" in run ? run.parsedResult : undefined;
const refused = (await ${calls.refused}).error?.data;
const code: "invalid_parameter" | undefined = refused?.code === "invalid_parameter" ? refused.code : undefined;
// @ts-expect-error The description has no such thing.
${calls.wrong}
console.log(JSON.stringify({ hash, value, code }));
`;
const FUNCTION =
  '{ network: "sepolia", source: "return Functions.encodeUint256(1n)", returnType: "uint256" }';
const JOURNEYS = {
  "useOpenapiTypescript.ts": journey(
    `import createClient from "openapi-fetch";
import type { paths } from "./openapiTypescript.ts";
const [baseUrl, Authorization] = process.argv.slice(2) as [string, string];
const client = createClient<paths>({ baseUrl, headers: { Authorization } });`,
    {
      preset: `client.POST("/api/vrfv2/presets", {
  params: { query: { network: "sepolia", preset: "range" } },
  body: { min: "1", max: "6" },
})`,
      run: `client.POST("/api/oracleFunctions/runFunction", { body: ${FUNCTION} })`,
      refused: `client.POST("/api/vrfv2/requestRandomNumber", { body: { network: "sepolia", numWords: "501" } })`,
      wrong: `void client.GET("/api/nothing");`,
    },
  ),
  "useHeyApi.ts": journey(
    `import { createClient } from "./heyApi/client";
import { requestRandomNumber, runFunction, runPreset } from "./heyApi";
const [baseUrl, auth] = process.argv.slice(2) as [string, string];
const client = createClient({ baseUrl, auth });`,
    {
      preset: `runPreset({
  client,
  query: { network: "sepolia", preset: "range" },
  body: { min: "1", max: "6" },
})`,
      run: `runFunction({ client, body: ${FUNCTION} })`,
      refused: `requestRandomNumber({ client, body: { network: "sepolia", numWords: "501" } })`,
      wrong: `export const wrong: Parameters<typeof runFunction>[0]["body"]["returnType"] = "uint7";`,
    },
  ),
};

test("the clients that openapi-typescript and Hey API make of it compile and work", async () => {
  const { server } = await startPresetHarness();
  const files = {
    "openapi.json": description,
    ...JOURNEYS,
    "tsconfig.json": JSON.stringify({
      compilerOptions: {
        strict: true,
        noEmit: true,
        module: "esnext",
        moduleResolution: "bundler",
        allowImportingTsExtensions: true,
        target: "es2023",
        lib: ["es2023", "dom", "dom.iterable"],
        types: ["node"],
      },
      include: ["*.ts", "heyApi"],
    }),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  await run(process.execPath, [path.join(TOOLS, "generate.js"), folder]);
  await expect(compile()).resolves.toBe("");
  const scripts = Object.keys(JOURNEYS).map((name) => path.join(folder, name));
  await build({
    entryPoints: scripts,
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    platform: "node",
  });
  const answers = await Promise.all(
    scripts.map(async (script) => {
      const argv = [script.replace(/ts$/, "mjs"), server.url, API_KEY];
      return JSON.parse((await run(process.execPath, argv)).stdout) as unknown;
    }),
  );
  const hash: unknown = expect.stringMatching(/^0x[0-9a-f]{64}$/);
  const answer = { hash, value: "1", code: "invalid_parameter" };
  expect(answers).toEqual([answer, answer]);
});

/** Compiles the clients and their uses; returns the compiler's output, empty if there is none. */
async function compile(): Promise<string> {
  const tsc = path.join(ROOT, "node_modules/typescript/bin/tsc");
  return await run(process.execPath, [tsc, "-p", folder]).then(
    ({ stdout }) => stdout,
    (error: { readonly stdout: string }) => error.stdout,
  );
}
