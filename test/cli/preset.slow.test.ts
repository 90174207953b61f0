import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { format } from "oxfmt";
import { expect, test } from "vitest";
import { makeFolder, writePreset } from "../presets/folders.ts";
import { runCli } from "./runCli.ts";

test("list shows each preset with its parameters and defaults", async () => {
  const { code, stdout } = await runCli(["preset", "list"]);
  expect(code).toBe(0);
  for (const text of [
    "coinflip  Flip a coin",
    "(min=1, max=10) → int256",
    "(numberOfWinners=1, list) → string",
  ]) {
    expect(stdout).toContain(text);
  }
});

test("list --json is what a script would want", async () => {
  const { stdout } = await runCli(["preset", "list", "--json"]);
  const presets = JSON.parse(stdout) as { name: string; sourceHash: string }[];
  expect(presets.map(({ name }) => name)).toEqual(["coinflip", "lotto", "nDice", "range"]);
  for (const { sourceHash } of presets) expect(sourceHash).toMatch(/^0x[0-9a-f]{64}$/);
});

test("a new preset works as it is, and is formatted", async () => {
  const folder = await makeFolder();
  const made = await runCli(["preset", "new", "pick", "--folder", folder]);
  expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining(path.join("pick", "preset.json")) });
  const checked = await runCli(["preset", "check", "--folder", folder, "--draws", "20000"]);
  expect(checked.stdout).toMatch(
    /^ok {6}pick: 3 examples, 15 runs with extreme words, 20,000 draws for 1 distribution, \d+ bytes on chain:\n {8}const \w+=JSON\.parse\(args\[0\]\).*\n$/,
  );
  expect(checked.code).toBe(0);
  const written = await readFile(path.join(folder, "pick", "preset.json"), "utf8");
  expect(written).toBe((await format("preset.json", written)).code);
});

test("new does not overwrite", async () => {
  const folder = await makeFolder();
  await writePreset(folder, "echo", {});
  const { code, stderr } = await runCli(["preset", "new", "echo", "--folder", folder]);
  expect(code).toBe(1);
  expect(stderr).toContain('the folder already has a preset "echo"');
});

test("new with a name that is a path", async () => {
  const { code, stderr } = await runCli(["preset", "new", "../up", "--folder", await makeFolder()]);
  expect(code).toBe(1);
  expect(stderr).toContain("can't be a preset's name");
});

test("check tells file, line and reason of each problem, and what is well besides", async () => {
  const folder = await makeFolder();
  await writePreset(folder, "bad", {});
  await writePreset(folder, "echo", {});
  await writeFile(path.join(folder, "bad", "source.js"), "return (;\n");
  const { code, stdout, stderr } = await runCli(["preset", "check", "--folder", folder]);
  expect(code).toBe(1);
  expect(stderr).toContain('failed  bad\n        bad/source.js:1:9: Unexpected ";"');
  expect(stdout).toContain("ok      echo: 1 example, 5 runs with extreme words, no distribution");
  expect(stdout).toContain(`\n1 of 2 presets in ${folder} are ok\n`);
});

test("check of a preset that there is not", async () => {
  const { code, stderr } = await runCli(["preset", "check", "nope", "--folder", await makeFolder()]);
  expect(code).toBe(1);
  expect(stderr).toContain("nope: is not a folder");
});

test("a folder that there is not", async () => {
  const { code, stderr } = await runCli(["preset", "list", "--folder", "/nonexistent"]);
  expect(code).toBe(1);
  expect(stderr).toBe("error: can't open /nonexistent: there is no such file or folder\n");
});

test.each(["list", "check", "new"])("%s --help shows examples", async (command) => {
  expect((await runCli(["preset", command, "--help"])).stdout).toContain(`$ tyche preset ${command}`);
});
