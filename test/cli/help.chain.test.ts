import { Command } from "commander";
import { expect, test } from "vitest";
import { registerCall } from "../../src/cli/callCommand.ts";
import { registerSimulate } from "../../src/cli/simulateCommand.ts";
import { runCli } from "./runCli.ts";

test("behaviour: every command is told in one style, a sentence in the present tense", async () => {
  const { stdout } = await runCli(["--help"]);
  const commands = stdout.slice(stdout.indexOf("Commands:"));
  const told = [...commands.matchAll(/^ {2}(?!help)(\w+)(?: [[<].*?)? {2,}(\S.*)$/gm)];
  expect(told.length).toBeGreaterThan(10);
  expect(told.filter(([, , text]) => !/^[A-Z][a-z]+s\b/.test(text!)).map(([, name]) => name)).toEqual([]);
});

test("behaviour: a default that is empty is told in words", () => {
  const program = new Command();
  const terminal = { out: () => {} } as unknown as Parameters<typeof registerCall>[1];
  registerCall(program, terminal);
  registerSimulate(program, terminal);
  for (const command of program.commands.flatMap((one) => [one, ...one.commands]))
    expect(command.helpInformation()).not.toMatch(/default: (\[\]|\{\})/);
});

test.each([
  {
    args: ["requests", "list", "--limit", "abc"],
    told: "argument 'abc' is invalid. It must be a whole number from 1 to 100.",
  },
  {
    args: ["dry-runs", "--limit", "101"],
    told: "argument '101' is invalid. It must be a whole number from 1 to 100.",
  },
  { args: ["webhook", "replay", "wh_1"], told: "give --event ID or --since TIME" },
  {
    args: ["requests", "list", "--url", "localhost:3000"],
    told: '"localhost:3000" is not an http or https URL such as http://127.0.0.1:3000',
  },
  {
    args: ["verify", "sepolia", `0x${"5f".repeat(32)}`, "--rpc-url", ""],
    told: "argument '' is invalid. It must be an http, https, ws or wss URL, or the path of a socket.",
  },
])("error: tyche $args says what it should have been", async ({ args, told }) => {
  const { code, stdout, stderr } = await runCli(args, "", { TYCHE_API_KEY: "tyche_key" });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(told);
});
