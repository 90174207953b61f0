import type { SimulateResult } from "../../api/types.ts";
import type { Hex } from "viem";
import {
  countShownChars,
  createSandboxNetwork,
  createSandboxPool,
  CRASH_TEXT,
  DEFAULT_LIMITS,
  DEVELOPER_NETWORK,
  type RunResult,
} from "../../../sandbox/index.ts";
import { decodeDryRun } from "../../domain/decodeResult.ts";
import type { ReturnType, Beacon } from "../../domain/vocabulary.ts";
import { messageOf } from "../../lib/errors.ts";
import { MAX_RESPONSE_BYTES } from "../../domain/sourceLimit.ts";
import { type LinkedSource, linkSource } from "../../presets/linkSource.ts";
import { placeInSource } from "../../presets/locateFailure.ts";
import { SourceSyntaxError } from "../../presets/sourceSyntaxError.ts";
import { dryRunBytesArgs } from "../../requests/accept/dryRun.ts";
import { describeRunError, FAILED_RUN } from "../../requests/accept/runDetails.ts";
import { warningsOf } from "../../requests/accept/sourceWarnings.ts";
import { toHexText } from "../../lib/hex.ts";

/** Maximum number of HTTP requests that a source may make, as on the oracle network. */
export const MAX_HTTP_REQUESTS = DEFAULT_LIMITS.maxHttpRequests;

export interface SimulateToolRequest {
  readonly source: string;
  readonly args: readonly string[];
  readonly bytesArgs: readonly Hex[];
  /** Adds a word to `bytesArgs`, in place of that of a round of drand. Default `none`. */
  readonly beacon?: Beacon | undefined;
  readonly secrets: Readonly<Record<string, string>>;
  readonly returnType: ReturnType;
  /** Aborts the run; the promise then rejects. */
  readonly signal?: AbortSignal | undefined;
}

/** Runs sources in a sandbox of its own, without a service. */
export interface SimulateTool {
  /** Runs a source, including a preset's `source.js` that imports `tyche:draw`. A failing source is a normal result. */
  simulate(request: SimulateToolRequest): Promise<SimulateResult>;
  close(): Promise<void>;
}

/** Starts a sandbox for the command line; its sources can reach whatever the user's machine can. */
export function createSimulateTool(): SimulateTool {
  const network = createSandboxNetwork(DEVELOPER_NETWORK);
  const pool = createSandboxPool({ concurrency: 1, maxWorkers: 1, hostCalls: network.hostCalls });
  return {
    async simulate({ source, args, bytesArgs, beacon, secrets, returnType, signal }) {
      const linked = link(source);
      if (linked instanceof SourceSyntaxError) return unlinked(linked);
      const { text } = linked;
      const run = await pool.run({
        source: text,
        args,
        bytesArgs: [...bytesArgs, ...dryRunBytesArgs(beacon)],
        secrets,
        limits: { maxResponseBytes: MAX_RESPONSE_BYTES },
        observe: true,
        ...(signal === undefined ? {} : { signal }),
      });
      const { console, consoleTruncated, timeMs, memoryBytes, httpRequests } = run;
      const described = describe(run, returnType, linked.preludeLines);
      const values = Object.values(secrets);
      const shown = run.ok ? countShownChars(run.bytes, values) : 0;
      const shownChars = values.length === 0 ? undefined : shown;
      const warned = warningsOf({ source, run, returnType, shownChars });
      return { ...described, console, consoleTruncated, timeMs, memoryBytes, httpRequests, ...warned };
    },
    close: async () => {
      network.close();
      await pool.close();
    },
  };
}

/** Only a preset's source can import modules of Tyche. Any other source runs as it is; static imports fail as they would on chain. */
const IMPORTS_OURS = /^\s*import\b[^"';]*["']tyche:/m;

function link(source: string): LinkedSource | SourceSyntaxError {
  if (!IMPORTS_OURS.test(source)) return { text: source, preludeLines: 0 };
  try {
    return linkSource(source);
  } catch (error) {
    if (error instanceof SourceSyntaxError) return error;
    throw error;
  }
}

/** Returns the result of a source that failed to link, so nothing ran. */
function unlinked({ message, line, column }: SourceSyntaxError): SimulateResult {
  return {
    ...FAILED_RUN,
    ...describeRunError({ kind: "syntax", message: CRASH_TEXT, detail: message, line, column }, "/source"),
    ...(line === undefined || column === undefined ? {} : { line, column }),
    console: "",
    consoleTruncated: false,
    timeMs: 0,
    memoryBytes: 0,
    httpRequests: 0,
  };
}

type Described = Pick<
  SimulateResult,
  "success" | "result" | "parsedResult" | "value" | "err" | "code" | "line" | "column" | "details"
>;

function describe(run: RunResult, returnType: ReturnType, preludeLines: number): Described {
  if (!run.ok) {
    const place = placeInSource(run.error, preludeLines);
    const found = describeRunError({ ...run.error, line: place?.line, column: place?.column }, "/source");
    return { ...FAILED_RUN, ...found, ...place };
  }
  const result: Hex = toHexText(run.bytes);
  try {
    const parsedResult = decodeDryRun(run.bytes, returnType);
    return { success: true, result, parsedResult, value: parsedResult, err: "0x" };
  } catch (error) {
    return { ...FAILED_RUN, err: messageOf(error), result };
  }
}
