import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

import type { DifferentialCase } from "./cases.ts";

/** The result of a run, in the toolkit's own terms. */
export interface Answer {
  /** The returned bytes as hex, with `0x`. */
  readonly bytes?: string;
  readonly error?: string;
  /** Everything that the run printed. */
  readonly console: string;
}

/** Runs cases through the toolkit's `simulateScript` and real Deno. */
export interface Reference {
  /** @throws Error when the toolkit itself refuses the input or its process dies. */
  run(testCase: DifferentialCase, serverUrl: string): Promise<Answer>;
  close(): void;
}

interface Worker {
  readonly child: ChildProcess;
  busy: Promise<unknown>;
}

const BIN_DIRECTORY = fileURLToPath(new URL("../../../node_modules/.bin", import.meta.url));

/**
 * Starts reference processes, each with its own temporary directory; all share one Deno cache, initially empty.
 *
 * @param options.processes How many run in parallel; default 2.
 */
export function createReference(options: { processes?: number } = {}): Reference {
  const home = mkdtempSync(join(tmpdir(), "tyche-reference-"));
  const workers: Worker[] = Array.from({ length: options.processes ?? 2 }, (_, index) => {
    const child = fork(new URL("referenceWorker.ts", import.meta.url), {
      execArgv: [],
      env: {
        PATH: `${BIN_DIRECTORY}${delimiter}${process.env["PATH"] ?? ""}`,
        HOME: home,
        TMPDIR: mkdtempSync(join(home, `${index}-`)),
        DENO_DIR: join(home, "deno"),
        DENO_NO_UPDATE_CHECK: "1",
        NO_COLOR: "1",
        TZ: "UTC",
        LANG: "en_US.UTF-8",
      },
    });
    return { child, busy: Promise.resolve() };
  });
  let next = 0;
  return {
    run(testCase, serverUrl) {
      const worker = workers[next++ % workers.length] as Worker;
      const answer = worker.busy.then(() => ask(worker.child, testCase, serverUrl));
      worker.busy = answer.catch(() => undefined);
      return answer;
    },
    close() {
      for (const { child } of workers) child.kill("SIGKILL");
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Returns the toolkit's input for a case. */
export function toSimulationInput(testCase: DifferentialCase, serverUrl: string): Record<string, unknown> {
  const { source, args, bytesArgs, secrets, server, timeoutMs } = testCase;
  return {
    source,
    ...(server ? { args: [serverUrl, ...(args ?? [])] } : args && { args }),
    ...(bytesArgs && { bytesArgs }),
    ...(secrets && { secrets }),
    ...(timeoutMs !== undefined && { maxExecutionTimeMs: timeoutMs }),
  };
}

/** Converts a toolkit result to an answer, replacing what changes from run to run (ports, process ids, temporary file names). */
export function toAnswer(result: Record<string, string | undefined>, serverUrl: string): Answer {
  // The toolkit passes on whatever JSON the thrown error's message became, which is not always a string.
  const stable = (value: unknown) =>
    (typeof value === "string" ? value : JSON.stringify(value))
      .replaceAll(new URL(serverUrl).host, "127.0.0.1:PORT")
      .replace(/^\(node:\d+\)/gm, "(node:1)")
      .replace(/\/[^\s"']*FunctionsScript-\d+\.ts/g, "/FunctionsScript.ts")
      .replace(/\/tmp\/tyche-reference-\w+\/\d-\w+/g, "/tmp");
  return {
    ...(result["responseBytesHexstring"] !== undefined && { bytes: result["responseBytesHexstring"] }),
    ...(result["errorString"] !== undefined && { error: stable(result["errorString"]) }),
    console: stable(result["capturedTerminalOutput"] ?? ""),
  };
}

function ask(child: ChildProcess, testCase: DifferentialCase, serverUrl: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const onExit = () => reject(new Error(`The reference process died during ${testCase.id}.`));
    child.once("exit", onExit);
    child.once("message", (message: { result?: Record<string, string>; failure?: string }) => {
      child.off("exit", onExit);
      if (message.result) resolve(toAnswer(message.result, serverUrl));
      else reject(new Error(`${testCase.id}: ${message.failure}`));
    });
    child.send(toSimulationInput(testCase, serverUrl));
  });
}
