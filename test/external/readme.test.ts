import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { findBlocks } from "../project/support/pages.ts";
import { makeReaderFolder, readerEnvironment } from "../project/support/readerFolder.ts";
import { RICH_KEY, startIntervalAnvil, type StrangersChain } from "./support/chain.ts";

// The chain mines at fixed intervals and commands run in processes of their own: on a busy machine both are slow.
vi.setConfig({ hookTimeout: 60_000 });

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

/** What a reader pastes, except for free ports and for the prompt that nobody is there to answer. */
const CHANGES: readonly (readonly [string, string])[] = [
  ["--oracle oracle.json\n", "--oracle oracle.json --yes\n"],
  ["PORT=3001", "PORT=0"],
  ["npx tyche start", "PORT=0 npx tyche start"],
];

test("default: the commands of “On a public network” lead from nothing to a result verified by its RPC URL", async () => {
  const page = readFileSync(path.resolve(import.meta.dirname, "../../README.md"), "utf8");
  const section = /^## On a public network\n[^]*?(?=^## )/m.exec(page)![0];
  const [start, ask] = findBlocks("README.md", section).map(({ text }) => text);

  let commands = start!;
  for (const [shown, typed] of CHANGES) {
    expect(commands).toContain(shown);
    commands = commands.replace(shown, typed);
  }
  const serving = openShell(commands);
  await expect.poll(serving.printed, { timeout: 240_000 }).toMatch(/Ready in|exit code/);
  expect(serving.printed()).toMatch(/API +http/);
  const [, url] = /API +(http\S+)/.exec(serving.printed())!;

  const asking = openShell(ask!.replaceAll("http://127.0.0.1:3000", url!));
  await expect.poll(asking.printed, { timeout: 120_000 }).toContain("exit code");
  expect(asking.printed()).toMatch(/^valid: 1 request[^]*^exit code 0$/m);
});

function openShell(commands: string): { readonly printed: () => string } {
  const env = { ...readerEnvironment(folder), RPC_URL: chain.httpUrl, TYCHE_SEPOLIA_KEY: RICH_KEY };
  const script = `trap 'echo "exit code $?"' EXIT\nset -eu -o pipefail\n${commands}`;
  // In a process group of its own, so that background processes end with it.
  const shell = spawn("bash", ["-c", script], { cwd: folder, env, detached: true });
  shells.push(shell);
  let text = "";
  for (const stream of [shell.stdout, shell.stderr])
    stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return { printed: () => text };
}

async function endShell(shell: ChildProcess): Promise<void> {
  if (shell.exitCode !== null) return;
  const ended = new Promise((resolve) => shell.once("close", resolve));
  process.kill(-shell.pid!, "SIGKILL");
  await ended;
}
