import { Command } from "commander";
import pc from "picocolors";
import { afterEach, expect, test } from "vitest";
import { registerVerify, type VerifyMeans } from "../../src/cli/verifyCommand.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import type { Verification } from "../../src/verify/verification.ts";

const TX = `0x${"5f".repeat(32)}` as const;

const NOTHING: Verification = {
  network: "sepolia",
  chainId: 11_155_111,
  transactionHash: TX,
  valid: true,
  verdict: "valid",
  requests: [],
  contracts: {},
  trust: [],
};

afterEach(() => void (process.exitCode = undefined));

/** Runs the command, and returns what it asked for and printed. */
async function run(flags: readonly string[], found = NOTHING) {
  const lines: string[] = [];
  const write = (text: string) => void lines.push(text);
  const terminal: Terminal = { out: write, err: write, isTerminal: false, colors: pc.createColors(false) };
  let asked: Parameters<VerifyMeans["verify"]>[0] | undefined;
  const program = new Command();
  registerVerify(program, terminal, {
    verify(options) {
      asked = options;
      return Promise.resolve(found);
    },
  });
  await program.parseAsync(["verify", "sepolia", TX, ...flags], { from: "user" });
  return { asked, output: lines.join("\n") };
}

test("default: whether blocks are hashed is left to what is known of the network", async () => {
  const { asked } = await run([]);
  expect(asked).not.toHaveProperty("hasEthereumBlocks");
});

test.each([
  ["--no-blocks", false],
  ["--blocks", true],
])("behaviour: %s decides whether blocks are hashed", async (flag, hasEthereumBlocks) => {
  expect((await run([flag])).asked).toMatchObject({ hasEthereumBlocks });
});
