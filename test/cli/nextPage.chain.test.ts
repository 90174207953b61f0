import { execFileSync } from "node:child_process";
import { Command, Option } from "commander";
import { expect, test } from "vitest";
import { nextPage } from "../../src/cli/nextPage.ts";

/** Runs a listing with the given words, and returns the command that it names for the page after `cursor`. */
async function nextOf(words: readonly string[], cursor = "req_2"): Promise<string> {
  let next = "";
  const program = new Command("tyche");
  program
    .command("requests")
    .command("list")
    .argument("[id]")
    .addOption(new Option("--url <url>").env("TYCHE_TEST_URL"))
    .option("--dapp <id>")
    .option("--limit <number>", "", "20")
    .option("--cursor <cursor>")
    .option("--all")
    .action((_id, _flags, command: Command) => {
      next = nextPage(command, { flag: "--cursor", value: cursor });
    });
  await program.parseAsync(["requests", "list", ...words], { from: "user" });
  return next;
}

test("without flags, the command has its cursor only", async () => {
  expect(await nextOf([])).toBe("npx tyche requests list --cursor req_2");
});

test("the flags given on the command line are repeated, and the cursor is replaced", async () => {
  const given = [
    "--url",
    "http://127.0.0.1:3000",
    "--dapp=dapp_1",
    "--limit",
    "5",
    "--all",
    "--cursor",
    "req_9",
  ];
  expect(await nextOf(given)).toBe(
    "npx tyche requests list --url http://127.0.0.1:3000 --dapp dapp_1 --limit 5 --all --cursor req_2",
  );
});

test("what is listed is named again", async () => {
  expect(await nextOf(["wh_1", "--limit", "5"])).toBe(
    "npx tyche requests list wh_1 --limit 5 --cursor req_2",
  );
});

test("a flag from the environment is not repeated", async () => {
  process.env["TYCHE_TEST_URL"] = "http://127.0.0.1:4000";
  try {
    expect(await nextOf([])).toBe("npx tyche requests list --cursor req_2");
  } finally {
    delete process.env["TYCHE_TEST_URL"];
  }
});

test("a shell reads each value as it was given", async () => {
  const values = ["it's $HOME `id`", "a;b & c", "", 'say "yes"', "~"];
  for (const value of values) {
    const [, words = ""] = (await nextOf([`--dapp=${value}`])).split(" --dapp ");
    const read = execFileSync("sh", ["-c", `printf '%s\\n' ${words}`], { encoding: "utf8" });
    expect(read).toBe(`${value}\n--cursor\nreq_2\n`);
  }
});
