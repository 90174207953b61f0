import { type ChildProcess, spawn } from "node:child_process";
import { TYCHE_ENTRY } from "../support/tyche.ts";

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts `tyche` in a process of its own, without a terminal, in an environment where nothing else disables colours. */
export function startCli(
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): ChildProcess {
  const env = { ...process.env, CI: "true", FORCE_COLOR: "1", NO_COLOR: undefined, ...variables };
  return spawn(process.execPath, [TYCHE_ENTRY, ...args], { env });
}

/** Runs `tyche` to completion; `input` is its standard input. */
export async function runCli(
  args: readonly string[],
  input = "",
  variables: Readonly<Record<string, string>> = {},
): Promise<CliResult> {
  const child = startCli(args, variables);
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (part: string) => (stdout += part));
  child.stderr?.setEncoding("utf8").on("data", (part: string) => (stderr += part));
  // A command that fails before it reads closes the pipe, which is no concern of the caller.
  child.stdin?.on("error", () => {}).end(input);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, stdout, stderr };
}
