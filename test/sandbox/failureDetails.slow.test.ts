import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createSandboxNetwork,
  createSandboxPool,
  simulateScript,
  type SandboxPool,
} from "../../sandbox/index.ts";
import { dryRunFunction, simulateSource } from "../../src/requests/accept/dryRun.ts";
import type { FunctionFailedError } from "../../src/requests/accept/runDetails.ts";
import { startServer } from "./net/servers.ts";

const CRASH = "syntax error, RAM exceeded, or other error";
const NOT_BYTES = "returned value not an ArrayBuffer or Uint8Array";

const pools: SandboxPool[] = [];
afterAll(() => Promise.all(pools.map((pool) => pool.close())));

function makePool(network: Parameters<typeof createSandboxNetwork>[0]): SandboxPool {
  const { hostCalls } = createSandboxNetwork(network);
  const pool = createSandboxPool({ concurrency: 1, hostCalls });
  pools.push(pool);
  return pool;
}

let pool: SandboxPool;
beforeAll(() => {
  pool = makePool({ allowModules: ["npm:*"], registry: "http://127.0.0.1:9/", allowHosts: ["127.0.0.1:9"] });
});

const command = (source: string) => ({ network: "sepolia", source, args: [], returnType: "string" as const });
const checks = (of: SandboxPool) => ({ pool: of, dappId: "dapp" });

/** Returns what an HTTP caller gets for a dry run that fails. */
async function refusalOf(source: string, of = pool): Promise<Record<string, unknown>> {
  const { result: simulated } = await simulateSource(command(source), checks(of));
  const refused = await dryRunFunction(command(source), checks(of)).then(
    () => undefined,
    (error: FunctionFailedError) => error.details,
  );
  expect(refused).toMatchObject({ success: false, err: simulated.err });
  const { err, details } = refused!;
  expect(details).toEqual(simulated.details);
  return { err, details };
}

describe("syntax", () => {
  const sources: readonly [source: string, what: string, line: number, column: number][] = [
    ["return (;", "unexpected `;`", 1, 9],
    ["const x = 1;\nconst y = @;", "unexpected `@`", 2, 11],
    ["const a: number = 1;\nconst b: string = ;", "unexpected `;`", 2, 19],
    ["const x = 'abc", "this string is not closed", 1, 11],
    ["return 1;\n/* no end", "this comment is not closed", 2, 1],
    ["const f = (a: string) => a;\nf(1 as;", "unexpected `;`", 2, 7],
    ["const a = 1; const a = 2;", "Identifier 'a' has already been declared", 1, 20],
    ["const x = 1;\n}", "unexpected `}`", 2, 1],
    ["if (true) {\n  return 1;", "the source ends too early: something is not closed", 2, 12],
    ["  import x from 'y';", 'a static import isn\'t possible here: write `await import("y")`', 1, 3],
    [
      "import {\n  a,\n} from 'npm:left-pad';\nreturn a;",
      'a static import isn\'t possible here: write `await import("npm:left-pad")`',
      1,
      1,
    ],
    ["import 'npm:b';", 'a static import isn\'t possible here: write `await import("npm:b")`', 1, 1],
    [
      "const a: number = 1;\nimport b from 'c';",
      'a static import isn\'t possible here: write `await import("c")`',
      2,
      1,
    ],
    ["const a: number = 1;\nlet b = 'abc", "this string is not closed", 2, 9],
    ["const a: number = 1;\nlet b = `abc", "this string is not closed", 2, 9],
    ["interface A { b: number }\nenum B { C = }", "unexpected `}`", 2, 14],
    ["const a: number = 1;\n\tconst b = '数😀é', c: string = ;", "unexpected `;`", 2, 32],
    ["const a: number = 1; function f() { await a; }", "await isn't allowed in non-async function", 1, 37],
    [
      "const a: number = 1;\nexport { a };",
      "`export` isn't possible here: the source is a function's body, `return` its result",
      2,
      1,
    ],
    [
      "export default 1;",
      "`export` isn't possible here: the source is a function's body, `return` its result",
      1,
      1,
    ],
  ];
  test.each(sources)("%s", async (source, what, line, column) => {
    const err = `syntax error in line ${line}, column ${column}: ${what}`;
    expect(await refusalOf(source)).toEqual({ err, details: undefined });
  });

  test("simulateScript prints it as Deno does", async () => {
    expect(await simulateScript({ source: "const x = 1;\n  return (;" })).toEqual({
      errorString: CRASH,
      capturedTerminalOutput: [
        "error: SyntaxError: unexpected `;`",
        "  |",
        "2 |   return (;",
        "  |           ~",
        "    at source.js:2:11",
        "",
      ].join("\n"),
    });
  });
});

test.each([
  ["behind types that are gone", "interface A {\n  b: number;\n}\n\n  missing(1 as number);", 5, 3],
  ["in a namespace", "namespace N {\n  export const a = () => missing();\n}\nN.a();", 2, 26],
  [
    "beside a parameter property",
    "class A {\n  constructor(public a: number) { missing(a); }\n}\nnew A(1);",
    2,
    35,
  ],
])("what is thrown %s is told with its place in the caller's text", async (_name, source, line, column) => {
  const { ok, ...rest } = await pool.run({ source });
  expect(ok).toBe(false);
  expect(rest).toMatchObject({ error: { message: "missing is not defined", line, column } });
});

test("an error without a text is called one, as the nodes report it", async () => {
  expect((await refusalOf("throw new Error('')"))["err"]).toBe("error");
});

test("an error that nobody caught is printed by simulateScript behind the source's own output", async () => {
  const source =
    "console.log('hi');\nPromise.reject(new TypeError('late'));\nawait new Promise((r) => setTimeout(r, 50));";
  expect(await simulateScript({ source })).toEqual({
    errorString: CRASH,
    capturedTerminalOutput: [
      "hi",
      "error: Uncaught TypeError: late",
      "Promise.reject(new TypeError('late'));",
      "               ^",
      "    at source.js:2:16",
      "",
    ].join("\n"),
  });
  expect((await simulateScript({ source: "throw new Error('caught')" })).capturedTerminalOutput).toBe("");
});

test.each(["return 5", "return", "return 'text'", "return [1]"])("%s says what to return", async (source) => {
  expect(await refusalOf(source)).toMatchObject({
    err: NOT_BYTES,
    details: [
      { path: "/source", message: expect.stringContaining("Functions.encodeUint256(number)") as string },
    ],
  });
});

test("a result that is too long names the limit", async () => {
  expect(await refusalOf("return new Uint8Array(1025)")).toEqual({
    err: "response >1024 bytes",
    details: [
      { path: "/source", message: "The result is longer than the 1024 bytes that this network takes." },
    ],
  });
});

test("a host that isn't allowed is told as one", async () => {
  const source =
    "const r = await Functions.makeHttpRequest({ url: 'http://10.0.0.1/' }); if (r.error) throw Error('no data');";
  expect(await refusalOf(source)).toEqual({
    err: "no data",
    details: [
      {
        path: "/source",
        message:
          "Refused: 10.0.0.1: private network. Only public hosts can be reached, and those the operator allows (TYCHE_ALLOW_HOSTS).",
      },
    ],
  });
});

test("a module that isn't allowed is told as one", async () => {
  expect(await refusalOf("await import('npm:one')", makePool({}))).toMatchObject({
    details: [
      { message: expect.stringContaining('the operator can allow it by adding "npm:one"') as string },
    ],
  });
});

test("a registry that can't be reached is told as one", async () => {
  // On a busy machine a run ends before the download has failed; a later one finds that.
  await expect
    .poll(() => refusalOf("await import('npm:one')"))
    .toMatchObject({
      err: expect.stringContaining("Failed loading") as string,
      details: [
        {
          message: expect.stringMatching(
            /^The npm registry could not be reached\. The request failed/,
          ) as string,
        },
      ],
    });
});

test("time spent on a download is told as that, not as the source's own", async () => {
  const silent = await startServer(() => undefined);
  const slow = makePool({
    allowModules: ["npm:*"],
    registry: `${silent.origin}/`,
    allowHosts: [silent.host],
  });
  const run = (source: string, timeoutMs: number) => slow.run({ source, limits: { timeoutMs } });
  // Long enough for the source to begin its import on a busy machine.
  expect(await run("await import('npm:one')", 5_000)).toMatchObject({
    error: {
      message: "script runtime exceeded",
      detail:
        "The run reached its limit of 5000 ms while it waited for npm:one to be downloaded; the download continues, and a later run finds it.",
    },
  });
  expect(await run("for (;;) {}", 1_000)).toMatchObject({
    error: { detail: "The source ran longer than 1000 ms." },
  });
});
