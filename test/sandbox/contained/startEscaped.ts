import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync, chmodSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { createChildLauncher, type LauncherOptions } from "../../../sandbox/host/launch.ts";

/** A started process that acts like escaped code. */
export interface Escaped {
  readonly child: ChildProcess;
  /** Runs JavaScript in the process; returns its value or the error's code. */
  readonly attempt: (code: string) => Promise<{ value?: unknown; error?: string; uncaught?: string }>;
  readonly stop: () => void;
}

/**
 * Starts an entry of this folder with the launcher that the pool uses.
 * @param options.folderMode Mode of the script's folder: 0o700 keeps other users out.
 * @param options.launcher Options of the launcher. Default: all available layers.
 * @param options.flag `--user=<uid>`, `--unconfined` or both; see the entry.
 */
export async function startEscaped(
  options: {
    readonly folderMode?: number;
    readonly flag?: string;
    readonly launcher?: LauncherOptions;
  } = {},
): Promise<Escaped> {
  const folder = mkdtempSync(join(tmpdir(), "tyche-escaped-"));
  const script = join(folder, "escaped.cjs");
  const built = await build({
    entryPoints: [fileURLToPath(new URL("escapedEntry.ts", import.meta.url))],
    bundle: true,
    write: false,
    format: "cjs",
    platform: "node",
    // The launcher doesn't pass a test's own arguments.
    banner: { js: `process.argv.push(${JSON.stringify(options.flag ?? "")});` },
  });
  writeFileSync(script, built.outputFiles[0]?.text ?? "", { mode: 0o644 });
  chmodSync(folder, options.folderMode ?? 0o755);
  const child = createChildLauncher(options.launcher).launch(script);
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  const next = async () => {
    const line = await lines.next();
    if (line.done === true) throw new Error(`the process ended: ${stderr}`);
    return JSON.parse(line.value) as { value?: unknown; error?: string };
  };
  await next();
  return {
    child,
    attempt: (code) => {
      child.stdin?.write(`${JSON.stringify(code)}\n`);
      return next();
    },
    stop: () => {
      child.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
