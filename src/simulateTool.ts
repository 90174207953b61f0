import type { Hex } from "viem";
import {
  createSandboxNetwork,
  createSandboxPool,
  DEFAULT_LIMITS,
  DEVELOPER_NETWORK,
  type RunResult,
} from "../sandbox/index.ts";
import { decodeResult, type ReturnType } from "./lib/decodeResult.ts";
import { messageOf } from "./lib/errors.ts";
import type { SimulateResult } from "./service/results.ts";

/** Most HTTP requests that a source may make, as the oracle network has it. */
export const MAX_HTTP_REQUESTS = DEFAULT_LIMITS.maxHttpRequests;

export interface SimulateToolRequest {
  readonly source: string;
  readonly args: readonly string[];
  readonly bytesArgs: readonly Hex[];
  readonly secrets: Readonly<Record<string, string>>;
  readonly returnType: ReturnType;
}

/** Runs sources in a sandbox of its own, without a service. */
export interface SimulateTool {
  /** A source that fails is a result, too. */
  simulate(request: SimulateToolRequest): Promise<SimulateResult>;
  close(): Promise<void>;
}

/** Starts a sandbox for the command line; its sources reach what the person at the keyboard reaches. */
export function createSimulateTool(): SimulateTool {
  const network = createSandboxNetwork(DEVELOPER_NETWORK);
  const pool = createSandboxPool({ concurrency: 1, hostCalls: network.hostCalls });
  return {
    async simulate({ source, args, bytesArgs, secrets, returnType }) {
      const run = await pool.run({ source, args, bytesArgs, secrets });
      const { console, consoleTruncated, timeMs, memoryBytes, httpRequests } = run;
      return { ...describe(run, returnType), console, consoleTruncated, timeMs, memoryBytes, httpRequests };
    },
    close: async () => {
      network.close();
      await pool.close();
    },
  };
}

type Described = Pick<SimulateResult, "success" | "result" | "parsedResult" | "err" | "line" | "column">;

function describe(run: RunResult, returnType: ReturnType): Described {
  if (!run.ok) {
    const { message, line, column } = run.error;
    const position = line === undefined ? {} : { line, ...(column === undefined ? {} : { column }) };
    return { success: false, result: "0x", parsedResult: "", err: message, ...position };
  }
  const result: Hex = `0x${run.bytes.toHex()}`;
  try {
    return { success: true, result, parsedResult: decodeResult(run.bytes, returnType), err: "0x" };
  } catch (error) {
    return { success: false, result, parsedResult: "", err: messageOf(error) };
  }
}
