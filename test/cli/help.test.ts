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
  for (const command of program.commands)
    expect(command.helpInformation()).not.toMatch(/default: (\[\]|\{\})/);
});
