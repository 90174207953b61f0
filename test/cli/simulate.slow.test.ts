import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeFolder, writePreset } from "../presets/folders.ts";
import { runCli, startCli } from "./runCli.ts";

test("runs a source from standard input and prints only its result to standard output", async () => {
  const source = 'console.log("seen"); return Functions.encodeString(args.join("+"))';
  const { code, stdout, stderr } = await runCli(["simulate", "-", "--arg", "a", "--arg", "b"], source);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "a+b\n" });
  expect(stderr).toContain("seen");
  expect(stderr).toMatch(/\d ms, [\d.]+ MB, 0 of 5 HTTP requests/);
});

test("a file, bytesArgs, secrets and a return type", async () => {
  const file = path.join(await makeFolder(), "sum.js");
  await writeFile(file, "return Functions.encodeInt256(BigInt(bytesArgs[0]) - BigInt(secrets.minus))");
  const flags = ["--bytes-arg", "0x05", "--secret", "minus", "--return-type", "int256"];
  const result = await runCli(["simulate", file, ...flags], "", { minus: "7" });
  expect(result).toMatchObject({ code: 0, stdout: "-2\n" });
});

test("a preset's source gets a random word, which is printed, unless --bytes-arg names one", async () => {
  const folder = await makeFolder();
  await writePreset(folder, "echo", { source: "return Functions.encodeString(bytesArgs.join())" });
  const simulate = (...flags: string[]) =>
    runCli(["simulate", path.join(folder, "echo", "source.js"), ...flags]);
  const { code, stdout, stderr } = await simulate();
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^0x[0-9a-f]{64}\n$/) });
  expect(stderr).toContain(`with the random word ${stdout.trim()} (`);
  expect(await simulate("--bytes-arg", "0x05")).toMatchObject({ code: 0, stdout: "0x05\n" });
});

test("with --beacon, the last of bytesArgs is a word, the same in every run", async () => {
  const simulate = (beacon: string) =>
    runCli(
      ["simulate", "-", "--bytes-arg", "0x07", "--beacon", beacon],
      "return Functions.encodeString(bytesArgs.join())",
    );
  for (const beacon of ["drand", "local"])
    expect(await simulate(beacon)).toMatchObject({ code: 0, stdout: `0x07,0x${"5a".repeat(32)}\n` });
  expect(await simulate("none")).toMatchObject({ code: 0, stdout: "0x07\n" });
});

test("--json prints one object with all there is to know", async () => {
  const flags = ["--json", "--return-type", "uint256"];
  const { code, stdout } = await runCli(["simulate", "-", ...flags], "return Functions.encodeUint256(7)");
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ success: true, parsedResult: "7", err: "0x", httpRequests: 0 });
});

test("a source that throws exits with 1 and shows the place in it, without colours", async () => {
  const source = "const a = 1;\n\nthrow Error(`no ${a}`);\n";
  const { code, stdout, stderr } = await runCli(["simulate", "-"], source);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain("failed: no 1\n  at standard input:3:7\n");
  expect(stderr).toContain("> 3 | throw Error(`no ${a}`);\n    |       ^");
  expect(stderr).not.toContain("\u001b");
});

test("with --json, too, a failure exits with 1", async () => {
  const { code, stdout } = await runCli(["simulate", "-", "--json"], "throw Error('no')");
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ success: false, err: "no", line: 1, column: 7 });
});

test("a result that is not of the return type", async () => {
  const { code, stderr } = await runCli(
    ["simulate", "-", "--return-type", "uint256"],
    "return new Uint8Array(33)",
  );
  expect(code).toBe(1);
  expect(stderr).toContain("33 bytes is too large for uint256");
});

test("a string that is not UTF-8 is no result", async () => {
  const { code, stderr } = await runCli(["simulate", "-"], "return new Uint8Array([0xc8])");
  expect(code).toBe(1);
  expect(stderr).toContain("failed: a result of 1 bytes is not a string: it is not UTF-8");
});

test("warns of a source that gives each oracle node another value", async () => {
  const source = "return Functions.encodeString(String(Math.random() + Date.now()) + secrets.key)";
  const { code, stderr } = await runCli(["simulate", "-"], source);
  expect(code).toBe(0);
  expect(stderr.match(/^warning: The source \w+ \S+/gm)).toEqual([
    "warning: The source makes random",
    "warning: The source reads the",
    "warning: The source reads `secrets`,",
  ]);
});

test.each([[[]], [["--network", "fuji"]]])("the network's limit holds, 1,024 bytes, %j", async (flags) => {
  const simulate = (size: number) =>
    runCli(["simulate", "-", ...flags], `return new Uint8Array(${size}).fill(120)`);
  expect(await simulate(1_024)).toMatchObject({ code: 0, stdout: `${"x".repeat(1_024)}\n` });
  expect((await simulate(1_025)).stderr).toContain("failed: response >1024 bytes");
});

test("a preset's source is linked with tyche:draw as it is when it is loaded", async () => {
  const head = 'import { createDraw } from "tyche:draw";\nconst draw = createDraw(bytesArgs[0]);\n';
  const flags = ["simulate", "-", "--bytes-arg", `0x${"07".repeat(32)}`, "--return-type", "uint256"];
  expect(await runCli(flags, `${head}return Functions.encodeUint256(draw(1n))`)).toMatchObject({ code: 0 });
  const thrown = await runCli(flags, `${head}throw Error("no")`);
  expect(thrown.stderr).toContain("failed: no\n  at standard input:3:7\n");
  expect(thrown.stderr).toContain('> 3 | throw Error("no")\n');
  const unknown = await runCli(flags, 'import { deal } from "tyche:draw";\nreturn deal(1)');
  expect(unknown.stderr).toContain("tyche:draw exports createDraw and nothing else");
  expect(unknown.stderr).toContain("  at standard input:1:10\n");
});

test("what a source writes can't reach the terminal's controls", async () => {
  const source = 'console.log("\u001b[2J"); return Functions.encodeString("\u001b]0;x\u0007")';
  const { stdout, stderr } = await runCli(["simulate", "-"], source);
  expect(stdout + stderr).not.toContain("\u001b");
});

test.each([
  [["simulate", "/nonexistent.js"], "can't open /nonexistent.js: there is no such file or folder"],
  [["simulate", "-", "--bytes-arg", "1"], "It must be 0x and an even number of hex digits."],
  [["simulate", "-", "--return-type", "bytes"], "Allowed choices are string, uint256, int256."],
  [["simulate", "-", "--secret", "x=1"], "It must be the name of an environment variable"],
  [["simulate", "-", "--watch"], "standard input can't be watched"],
  [["simulate"], "missing required argument 'file'"],
])("tyche %j", async (args, message) => {
  const { code, stdout, stderr } = await runCli(args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(message);
});

test("--watch runs again when the file is saved, and ends with SIGINT", async () => {
  const file = path.join(await makeFolder(), "live.js");
  await writeFile(file, 'return Functions.encodeString("first")');
  const child = startCli(["simulate", file, "--watch"]);
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (part: string) => (output += part));
  const saw = async (text: string): Promise<void> => {
    while (!output.includes(text)) await new Promise((resolve) => child.stdout?.once("data", resolve));
  };
  await saw("first\n");
  await writeFile(file, 'return Functions.encodeString("second")');
  await saw("second\n");
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGINT");
  expect(await ended).toBe(0);
});

test("--help shows examples", async () => {
  const { code, stdout } = await runCli(["simulate", "--help"]);
  expect(code).toBe(0);
  expect(stdout).toContain("$ tyche simulate price.js --arg BTC");
});
