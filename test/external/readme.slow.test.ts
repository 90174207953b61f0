import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findBlocks } from "../project/support/pages.ts";
import { makeReaderFolder, readerEnvironment } from "../project/support/readerFolder.ts";
import { RICH_KEY, startIntervalAnvil, type StrangersChain } from "./support/chain.ts";

let chain: StrangersChain;
let folder: string;
const shells: ChildProcess[] = [];

beforeAll(async () => {
  chain = await startIntervalAnvil({ chainId: 11_155_111 });
  folder = makeReaderFolder();
});
afterAll(async () => {
  await Promise.all(shells.map(endShell));
  await chain?.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
});

/** What a reader pastes, except for free ports. */
const CHANGES: readonly (readonly [string, string])[] = [
  ["PORT=3001", "PORT=0"],
  ["npx tyche start", "PORT=0 npx tyche start"],
];

test("the commands of “On a public network”, pasted into a terminal, lead to a result verified by its RPC URL", async () => {
  const page = readFileSync(path.resolve(import.meta.dirname, "../../README.md"), "utf8");
  const section = /^## On a public network\n[^]*?(?=^## )/m.exec(page)![0];
  const [start, ask] = findBlocks("README.md", section).map(({ text }) => text);

  let commands = start!;
  for (const [shown, typed] of CHANGES) {
    expect(commands).toContain(shown);
    commands = commands.replace(shown, typed);
  }
  const serving = openTerminal(`${commands}echo "exit code $?"\n`);
  await expect.poll(serving.printed, { timeout: 240_000 }).toMatch(/Ready in|exit code \d/);
  expect(serving.printed()).toMatch(/API +http/);
  const [, url] = /API +(http\S+)/.exec(serving.printed())!;

  const asking = openTerminal(`${ask!.replaceAll("http://127.0.0.1:3000", url!)}echo "exit code $?"\n`);
  await expect.poll(asking.printed, { timeout: 120_000 }).toMatch(/exit code \d/);
  expect(asking.printed()).toMatch(/^valid: 1 request[^]*^exit code 0\r?$/m);
});

/** Opens a shell on a terminal and pastes commands into it: what a command reads from the terminal, the shell doesn't get. */
function openTerminal(commands: string): { readonly printed: () => string } {
  const env = {
    ...readerEnvironment(folder),
    RPC_URL: chain.httpUrl,
    TYCHE_SEPOLIA_KEY: RICH_KEY,
    TERM: "dumb",
    SHELL: "/bin/bash",
  };
  const shell = spawn("script", ["-qec", "bash --norc --noprofile -i", "/dev/null"], { cwd: folder, env });
  shells.push(shell);
  let text = "";
  for (const stream of [shell.stdout, shell.stderr])
    stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
  shell.stdin.write(commands);
  return { printed: () => text };
}

/** Interrupts what runs in a terminal's foreground, ends what runs in its background, and leaves the shell. */
async function endShell(shell: ChildProcess): Promise<void> {
  if (shell.exitCode !== null) return;
  const ended = new Promise((resolve) => shell.once("close", resolve));
  shell.stdin!.write("\u0003");
  shell.stdin!.write("kill $(jobs -p)\nexit\n");
  await ended;
}
