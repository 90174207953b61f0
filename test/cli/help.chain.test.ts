import { readdirSync } from "node:fs";
import { Command } from "commander";
import { expect, test } from "vitest";
import { COMMANDS } from "../../src/browser/docs/commands.ts";
import { registerCall } from "../../src/cli/callCommand.ts";
import { addExamples } from "../../src/cli/examples.ts";
import { registerNetworkTools } from "../../src/cli/networkCommands.ts";
import { registerNetwork } from "../../src/cli/networkListCommand.ts";
import { registerSimulate } from "../../src/cli/simulateCommand.ts";
import { runCli } from "./runCli.ts";

test("every command is told in one style, a sentence in the present tense", async () => {
  const { stdout } = await runCli(["--help"]);
  const commands = stdout.slice(stdout.indexOf("Calls:"));
  const told = [...commands.matchAll(/^ {2}(?!help)(\w+)(?: [[<].*?)? {2,}(\S.*)$/gm)];
  expect(told.length).toBeGreaterThan(10);
  expect(told.filter(([, , text]) => !/^[A-Z][a-z]+s\b/.test(text!)).map(([, name]) => name)).toEqual([]);
});

test("the commands are in groups, by what they are for", async () => {
  const { stdout } = await runCli(["--help"]);
  const groups = [...stdout.matchAll(/^(\w[\w ]*):$/gm)].map(([, name]) => name);
  expect(groups).toEqual(["Options", "Calls", "Your dapp", "Networks and oracle", "The service", "Examples"]);
});

test("a default that is empty is told in words", () => {
  const program = new Command();
  const terminal = { out: () => {} } as unknown as Parameters<typeof registerCall>[1];
  registerCall(program, terminal);
  registerSimulate(program, terminal);
  for (const command of program.commands.flatMap((one) => [one, ...one.commands]))
    expect(command.helpInformation()).not.toMatch(/default: (\[\]|\{\})/);
});

/** Registers every command of `src/cli`. */
async function registerAll(program: Command): Promise<void> {
  const folder = new URL("../../src/cli/", import.meta.url);
  const terminal = { colors: {} } as never;
  for (const file of readdirSync(folder)) {
    const exported = (await import(new URL(file, folder).href)) as Readonly<Record<string, unknown>>;
    for (const [name, register] of Object.entries(exported))
      if (/^register(?!Network)/.test(name)) (register as (...given: unknown[]) => void)(program, terminal);
  }
  registerNetworkTools(registerNetwork(program, terminal), terminal);
}

test("every command has examples, with options that it has", async () => {
  let help = "";
  const program = new Command("tyche").configureOutput({ writeOut: (text) => void (help += text) });
  await registerAll(program);
  addExamples(program);
  const wrong: string[] = [];
  const walk = (command: Command, path: readonly string[], above: readonly string[]): void => {
    const known = [...above, ...command.options.map(({ long }) => long ?? "")];
    help = "";
    command.outputHelp();
    const examples = [...help.matchAll(/^ {2}\$ .*$/gm)].map(([line]) => line);
    if (examples.length === 0) wrong.push(path.join(" "));
    if (command.commands.length === 0)
      for (const line of examples)
        for (const [option] of line.split(/ [|>]/)[0]!.matchAll(/(?<= )--[\w-]+/g))
          if (!known.includes(option)) wrong.push(line);
    for (const one of command.commands) walk(one, [...path, one.name()], known);
  };
  walk(program, ["tyche"], []);
  expect(program.commands.length).toBeGreaterThan(20);
  expect(wrong).toEqual([]);
});

test("the commands in the samples of /docs exist, with options that they have", async () => {
  const program = new Command("tyche");
  await registerAll(program);
  const wrong = Object.values(COMMANDS).filter((line) => {
    let command: Command | undefined = program;
    const options: string[] = [];
    for (const word of line.split(" ").slice(1)) {
      const next: Command | undefined = command.commands.find((one) => one.name() === word);
      if (next === undefined) break;
      command = next;
      options.push(...command.options.map(({ long }) => long ?? ""));
    }
    const used = [...line.matchAll(/(?<= )--[\w-]+/g)].map(([option]) => option);
    // The name of a preset is no command of its own.
    const isWhole = command.name() === "call" || command.commands.length === 0;
    return command === program || !isWhole || used.some((one) => !options.includes(one));
  });
  expect(wrong).toEqual([]);
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
  {
    args: ["call", "random", "numWords=2"],
    told: "call random takes no numWords=2; options say what is drawn, such as --words 2",
  },
  {
    args: ["call", "run", "price.js", "BTC"],
    told: "call run takes no BTC after the file; give arguments as --arg BTC",
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
])("tyche $args says what it should have been", async ({ args, told }) => {
  const { code, stdout, stderr } = await runCli(args, "", { TYCHE_API_KEY: "tyche_key" });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(told);
});

test("a service is named, but no key, and there is no data directory: says which variable to set", async () => {
  const variables = {
    TYCHE_DATA_DIR: "/nonexistent/data",
    TYCHE_URL: "http://127.0.0.1:1",
    TYCHE_API_KEY: "",
  };
  const { code, stderr } = await runCli(["call", "coinflip"], "", variables);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(
      /set TYCHE_API_KEY to an API key of 127\.0\.0\.1:1: there is no data directory/,
    ),
  });
});
