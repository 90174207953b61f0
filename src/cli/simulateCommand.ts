import type { SimulateResult } from "../api/types.ts";
import { BEACONS, RETURN_TYPES, type Beacon, type ReturnType } from "../domain/vocabulary.ts";
import { randomBytes } from "node:crypto";
import { existsSync, unwatchFile, watchFile } from "node:fs";
import { access, readFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Hex } from "viem";
import { NETWORK_NAMES } from "../networks/profiles.ts";
import type { SimulateTool } from "../app/tools/simulateTool.ts";
import { messageOf } from "../lib/errors.ts";
import { toHexText } from "../lib/hex.ts";
import { formatCodeFrame } from "./codeFrame.ts";
import { listOption } from "./listOption.ts";
import { printWarnings, showText } from "./outcome.ts";
import { describeSystemError } from "./systemError.ts";
import { isReadable, type Terminal, withoutControls } from "./terminal.ts";

/** How often `--watch` looks at the file, in ms. */
const WATCH_INTERVAL_MS = 100;

interface SimulateFlags {
  readonly arg: readonly string[];
  readonly bytesArg: readonly Hex[];
  readonly beacon?: Beacon;
  readonly secret: Readonly<Record<string, string>>;
  readonly returnType: ReturnType;
  readonly json?: true;
  readonly watch?: true;
}

const NOTE = `
Exit code: 0 when the source gives a result of the return type, 1 when it fails.`;

/** Adds `tyche simulate`: runs a source on this machine as the oracle network would, and sends nothing to a chain. */
export function registerSimulate(program: Command, terminal: Terminal): void {
  program
    .command("simulate")
    .summary("Runs a source as the oracle network would.")
    .description("Runs a source as the oracle network would, on this machine. Nothing is sent to a chain.")
    .argument("<file>", "JavaScript or TypeScript source; - reads standard input")
    .addOption(listOption("--arg <text>", "an argument, args[0] first; may be repeated"))
    .addOption(
      new Option("--bytes-arg <hex>", "an element of bytesArgs, 0x first; may be repeated")
        .default([], "none, or a random word for a preset's source")
        .argParser(collectBytes),
    )
    .addOption(
      new Option(
        "--beacon <name>",
        "whether the last of bytesArgs is a word, as of a round of drand: here always the same",
      ).choices(BEACONS),
    )
    .addOption(
      new Option(
        "--secret <name>",
        "a member of secrets, with the value of the environment variable of that name; may be repeated",
      )
        .default({}, "none")
        .argParser(collectSecret),
    )
    .addOption(
      new Option("--return-type <type>", "how the result is read").choices(RETURN_TYPES).default("string"),
    )
    .addOption(
      // Checked only: all have the same limits.
      new Option("--network <name>", "network whose limits apply (default: an embedded one's)").choices(
        NETWORK_NAMES,
      ),
    )
    .option("--json", "print one JSON object")
    .option("--watch", "run again whenever the file is saved")
    .addHelpText("after", NOTE)
    .action(async (file: string, flags: SimulateFlags, command: Command) => {
      if (flags.watch && file === "-")
        command.error("error: --watch needs a file; standard input can't be watched");
      // On demand: with it comes the sandbox.
      const { createSimulateTool, MAX_HTTP_REQUESTS } = await import("../app/tools/simulateTool.ts");
      const tool = createSimulateTool();
      const means = { tool, terminal, maxHttpRequests: MAX_HTTP_REQUESTS };
      const hasWord = flags.bytesArg.length > 0 || (flags.beacon ?? "none") !== "none";
      const given = hasWord ? flags : { ...flags, bytesArg: drawWord(file, terminal) };
      try {
        if (flags.watch) await simulateOnSave(file, given, means);
        else if (!(await simulateOnce(file, given, means))) process.exitCode = 1;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code !== "ENOENT" && code !== "EISDIR" && code !== "EACCES") throw error;
        command.error(`error: ${describeSystemError({ ...(error as NodeJS.ErrnoException), path: file })}`);
      } finally {
        await tool.close();
      }
    });
}

interface Means {
  readonly tool: SimulateTool;
  readonly maxHttpRequests: number;
  readonly terminal: Terminal;
}

async function simulateOnce(
  file: string,
  flags: SimulateFlags,
  { tool, terminal, maxHttpRequests, signal }: Means & { readonly signal?: AbortSignal },
): Promise<boolean> {
  const source = file === "-" ? await text(process.stdin) : await readFile(file, "utf8");
  const { arg: args, bytesArg: bytesArgs, beacon, secret: secrets, returnType } = flags;
  const request = { source, args, bytesArgs, beacon, secrets, returnType, signal };
  const result = await tool.simulate(request);
  if (flags.json) terminal.out(JSON.stringify(result));
  else printResult(result, { source, file, terminal, maxHttpRequests });
  return result.success;
}

/** Draws a word for a file that is a preset's source, and prints it; returns none for any other. */
function drawWord(file: string, { err, colors }: Terminal): readonly Hex[] {
  const isPreset =
    path.basename(file) === "source.js" && existsSync(path.join(path.dirname(file), "preset.json"));
  if (!isPreset) return [];
  const word = toHexText(randomBytes(32));
  err(colors.dim(`with the random word ${word} (--bytes-arg takes another)`));
  return [word];
}

/**
 * Runs at once and again after each save, which aborts a run that is still in progress, until the process is interrupted.
 */
async function simulateOnSave(file: string, flags: SimulateFlags, means: Means): Promise<void> {
  const { err, colors } = means.terminal;
  const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<void>();
  process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
  let current = new AbortController();
  let runs = Promise.resolve();
  const start = (notice: string): void => {
    current.abort();
    current = new AbortController();
    const { signal } = current;
    runs = runs.then(async () => {
      if (signal.aborted) return;
      if (notice !== "" && !flags.json) err(colors.dim(notice));
      try {
        await simulateOnce(file, flags, { ...means, signal });
      } catch (error) {
        // Editors may replace a file by removing it first.
        if (!signal.aborted) err(colors.red(messageOf(error)));
      }
    });
  };
  watchFile(file, { interval: WATCH_INTERVAL_MS }, ({ nlink }) => {
    if (nlink > 0) start(`\n— ${file} was saved —`);
  });
  try {
    await access(file);
    start("");
    await interrupted;
    current.abort();
    await runs;
  } finally {
    unwatchFile(file);
  }
}

function printResult(
  result: SimulateResult,
  {
    source,
    file,
    terminal,
    maxHttpRequests,
  }: Omit<Means, "tool"> & { readonly source: string; readonly file: string },
): void {
  const { colors, out, err } = terminal;
  const console = withoutControls(result.console).trimEnd();
  if (console !== "") err(colors.dim(console.replaceAll(/^/gm, "  ")));
  if (result.consoleTruncated) err(colors.dim("  … the rest of the console output was dropped"));
  if (result.success) {
    out(showText(result.parsedResult, result.result));
    if (isReadable(result.parsedResult)) err(colors.dim(result.result));
    else
      err(
        colors.dim(
          "the result is not text: return Functions.encodeString(…), or read it with --return-type uint256",
        ),
      );
  } else {
    err(`${colors.red("failed:")} ${withoutControls(result.err)}`);
    for (const { message } of result.details ?? []) err(`  ${withoutControls(message)}`);
    if (result.line !== undefined) {
      const place = `${file === "-" ? "standard input" : file}:${result.line}:${result.column ?? 1}`;
      err(colors.dim(`  at ${place}`));
      err(withoutControls(formatCodeFrame(source, { line: result.line, column: result.column ?? 1 })));
    }
  }
  printWarnings(result.warnings, terminal);
  const memoryMb = (result.memoryBytes / 2 ** 20).toFixed(1);
  err(
    colors.dim(
      `${result.timeMs.toFixed(1)} ms, ${memoryMb} MB, ${result.httpRequests} of ${maxHttpRequests} HTTP requests`,
    ),
  );
}

function collectBytes(value: string, previous: readonly Hex[]): readonly Hex[] {
  if (!/^0x([0-9a-fA-F]{2})*$/.test(value)) {
    throw new InvalidArgumentError("It must be 0x and an even number of hex digits.");
  }
  return [...previous, value as Hex];
}

function collectSecret(
  name: string,
  previous: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const value = process.env[name];
  if (value === undefined)
    throw new InvalidArgumentError("It must be the name of an environment variable, which holds the value.");
  return { ...previous, [name]: value };
}
