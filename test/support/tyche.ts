import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { NetworkName } from "../../src/networks/profiles.ts";
import { programFile } from "./programs.ts";

export const TYCHE_ENTRY = programFile("tyche");
/** Kills a start that hangs; it says nothing about how long a start takes. */
const START_TIMEOUT_MS = 120_000;

/** A service in a process of its own, as a user starts it. */
export interface TycheProcess {
  readonly url: string;
  readonly apiKey: string;
  readonly dataDir: string;
  readonly pid: number;
  /** Everything it has printed so far. */
  output(): string;
  /** Calls the API with the default dapp's key; returns status, headers and the parsed body. */
  call(method: string, target: string, options?: CallOptions): Promise<Answer>;
  /** Resolves to the exit code once the process has exited. */
  readonly exited: Promise<number | null>;
  /** Sends a signal and waits for the process to exit; returns the exit code, `null` if the signal killed it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface CallOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // Untyped: the API's own schemas describe it.
  readonly data: any; // eslint-disable-line typescript/no-explicit-any
}

export interface TycheProcessOptions {
  /** Default: a new one that is removed after the test file. */
  readonly dataDir?: string;
  /** Embedded networks that it serves, written to the data directory's `tyche.json`. Default: what that says, or all four. */
  readonly networks?: readonly NetworkName[];
  readonly env?: Readonly<Record<string, string>>;
  /** Command and options to run it under, such as `prlimit --nofile=64`. Default none. */
  readonly under?: readonly string[];
  /** Working directory, whose `plugins` are served beside the built-in ones. Default: the tests' own. */
  readonly cwd?: string;
  /** Time limit for the start. Default 120,000, with everything embedded; an external chain may need longer. */
  readonly timeoutMs?: number;
}

/** A start that exited, or that was not ready in time. */
export class StartFailure extends Error {
  /** Exit code; `null` if there is none because it hung or a signal killed it. */
  readonly code: number | null;
  readonly output: string;

  constructor(code: number | null, output: string) {
    super(`tyche start did not get ready (exit code ${code}):\n${output}`);
    this.code = code;
    this.output = output;
  }
}

/** Creates an empty data directory; the caller removes it. */
export function makeDataDir(): string {
  return mkdtempSync(path.join(tmpdir(), "tyche-test-"));
}

/** Removes a data directory. */
export function removeDataDir(dataDir: string): void {
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

/**
 * Runs `tyche start` until it is ready.
 *
 * @throws {StartFailure}
 */
export async function startTycheProcess(options: TycheProcessOptions = {}): Promise<TycheProcess> {
  const dataDir = options.dataDir ?? makeDataDir();
  if (options.networks !== undefined) {
    const networks = Object.fromEntries(options.networks.map((name) => [name, "embedded"]));
    writeFileSync(path.join(dataDir, "tyche.json"), JSON.stringify({ networks }));
  }
  const env = { PORT: "0", TYCHE_DATA_DIR: dataDir, ...options.env };
  const { child, output, exited } = spawnTyche(["start"], env, options);
  const deadline = Date.now() + (options.timeoutMs ?? START_TIMEOUT_MS);
  let url: string | undefined;
  while (url === undefined) {
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline) {
      const code = child.exitCode;
      child.kill("SIGKILL");
      await exited;
      throw new StartFailure(code, output());
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
    if (output().includes("Ready in")) url = /export TYCHE_URL=(http\S+)/.exec(output())?.[1];
  }
  const apiKey = readFileSync(path.join(dataDir, "api-key"), "utf8").trim();
  return {
    url,
    apiKey,
    dataDir,
    pid: child.pid!,
    output,
    exited,
    call: createCaller(url, apiKey),
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      const code = await exited;
      if (options.dataDir === undefined) removeDataDir(dataDir);
      return code;
    },
  };
}

/** Creates a function that calls a service's API with a key; returns status, headers and the parsed body. */
export function createCaller(url: string, apiKey: string): TycheProcess["call"] {
  return async (method, target, { body, headers, signal } = {}) => {
    const response = await fetch(`${url}${target}`, {
      method,
      headers: {
        authorization: apiKey,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    const { data } = (await response.json()) as { data: unknown };
    return { status: response.status, headers: response.headers, data };
  };
}

/** Returns the addresses that a service publishes, as `--contracts` takes them. */
export async function publishedBy(tyche: Pick<TycheProcess, "call">): Promise<string> {
  return JSON.stringify((await tyche.call("GET", "/api/networks")).data);
}

/** An oracle in a process of its own. */
export interface OracleChild {
  /** Base URL of `/readyz` and `/metrics`. */
  readonly url: string;
  readonly pid: number;
  output(): string;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/**
 * Runs `tyche oracle` until it listens.
 *
 * @throws {StartFailure}
 */
export async function startOracleProcess(env: Readonly<Record<string, string>>): Promise<OracleChild> {
  const { child, output, exited } = spawnTyche(["oracle"], { PORT: "0", ...env });
  for (;;) {
    const url = /State\s+(http\S+)\/readyz/.exec(output())?.[1];
    if (url !== undefined)
      return {
        url,
        pid: child.pid!,
        output,
        stop(signal = "SIGTERM") {
          child.kill(signal);
          return exited;
        },
      };
    if (child.exitCode !== null || child.signalCode !== null)
      throw new StartFailure(child.exitCode, output());
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Runs a `tyche` command to completion. */
export async function runTyche(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number | null; readonly output: string }> {
  const { output, exited } = spawnTyche(args, env);
  return { code: await exited, output: output() };
}

function spawnTyche(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { under = [], cwd }: Pick<TycheProcessOptions, "under" | "cwd"> = {},
): { readonly child: ChildProcess; readonly output: () => string; readonly exited: Promise<number | null> } {
  const command = [...under, process.execPath, TYCHE_ENTRY, ...args];
  const child = spawn(command[0]!, command.slice(1), {
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    ...(cwd === undefined ? {} : { cwd }),
  });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const exited = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  return { child, output: () => text, exited };
}
