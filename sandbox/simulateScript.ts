import { createSandboxNetwork, DEVELOPER_NETWORK, type SandboxNetwork } from "./host/net/network.ts";
import { createSandboxPool } from "./host/pool.ts";
import type { SandboxPool } from "./host/poolTypes.ts";
import { DEFAULT_LIMITS } from "./limits.ts";
import { CRASH_TEXT, type RunError } from "./run.ts";

/** Input of {@link simulateScript}; names and defaults are those of Chainlink's functions-toolkit. */
export interface SimulationInput {
  readonly source: string;
  readonly args?: readonly string[];
  /** Each `0x` and at least one hex digit. */
  readonly bytesArgs?: readonly string[];
  readonly secrets?: Readonly<Record<string, string>>;
  /** Longest result, in bytes. Default 256. */
  readonly maxOnChainResponseBytes?: number;
  /** Wall-clock time, in ms. Default 10,000. */
  readonly maxExecutionTimeMs?: number;
  /** Default 128. */
  readonly maxMemoryUsageMb?: number;
  /** HTTP requests. Default 5. */
  readonly numAllowedQueries?: number;
  /** Longest HTTP request, in ms. Default 9,000. */
  readonly maxQueryDurationMs?: number;
  /** Longest URL, in characters. Default 2,048. */
  readonly maxQueryUrlLength?: number;
  /** Longest HTTP request body, in bytes. Default 2,048. */
  readonly maxQueryRequestBytes?: number;
  /** Longest HTTP response body, in bytes. Default 2,097,152. */
  readonly maxQueryResponseBytes?: number;
}

/** Result of {@link simulateScript}: either `responseBytesHexstring` or `errorString`. */
export interface SimulationResult {
  /** `0x` and the returned bytes as hex. */
  responseBytesHexstring?: string;
  /** The text that the oracle nodes would report. */
  errorString?: string;
  /** Everything the source printed. */
  capturedTerminalOutput: string;
}

/** Console output kept; the toolkit keeps all of it, but more than this is no use in a terminal. */
const MAX_CONSOLE_BYTES = 1024 * 1024;
/**
 * How long the processes wait for another call. After that, nothing in this module keeps the caller's process alive.
 */
const LINGER_MS = 500;

let shared:
  | { readonly pool: SandboxPool; readonly network: SandboxNetwork; running: number; timer?: NodeJS.Timeout }
  | undefined;

/**
 * Runs a source as the oracle nodes would, on a developer's own machine: the parameters, defaults, result fields and
 * validation errors are those of `simulateScript` in `@chainlink/functions-toolkit@0.3.2`. Needs no Deno.
 *
 * Like the toolkit's, it reaches whatever this machine reaches, including loopback and private addresses, npm and
 * the hosts that Deno imports from. A service that runs other people's sources uses `createSandboxPool` with its own
 * `createSandboxNetwork` instead.
 *
 * @throws {Error} With the toolkit's texts if a parameter is not valid, e.g. `args param not an array`.
 */
export async function simulateScript(input: SimulationInput): Promise<SimulationResult> {
  const { source, args, bytesArgs, secrets } = input;
  assertInput(input);
  const pool = acquire();
  try {
    const result = await pool.run({
      source,
      ...(args && { args }),
      ...(bytesArgs && { bytesArgs: bytesArgs as readonly `0x${string}`[] }),
      ...(secrets && { secrets }),
      limits: {
        maxResponseBytes: input.maxOnChainResponseBytes ?? DEFAULT_LIMITS.maxResponseBytes,
        timeoutMs: input.maxExecutionTimeMs ?? DEFAULT_LIMITS.timeoutMs,
        memoryLimitMb: input.maxMemoryUsageMb ?? DEFAULT_LIMITS.memoryLimitMb,
        maxHttpRequests: input.numAllowedQueries ?? DEFAULT_LIMITS.maxHttpRequests,
        maxHttpDurationMs: input.maxQueryDurationMs ?? DEFAULT_LIMITS.maxHttpDurationMs,
        maxHttpUrlLength: input.maxQueryUrlLength ?? DEFAULT_LIMITS.maxHttpUrlLength,
        maxHttpRequestBytes: input.maxQueryRequestBytes ?? 2_048,
        maxHttpResponseBytes: input.maxQueryResponseBytes ?? DEFAULT_LIMITS.maxHttpResponseBytes,
        maxConsoleBytes: MAX_CONSOLE_BYTES,
      },
    });
    return {
      capturedTerminalOutput: result.console + (result.ok ? "" : formatTerminalError(source, result.error)),
      ...(result.ok
        ? { responseBytesHexstring: `0x${Buffer.from(result.bytes).toString("hex")}` }
        : { errorString: result.error.message }),
    };
  } finally {
    release();
  }
}

function assertInput({ source, args, bytesArgs, secrets }: SimulationInput): void {
  if (typeof source !== "string") throw Error("source param is missing or invalid");
  if (
    secrets &&
    (typeof secrets !== "object" || !Object.values(secrets).every((secret) => typeof secret === "string"))
  ) {
    throw Error("secrets param not a string map");
  }
  if (args) {
    if (!Array.isArray(args)) throw Error("args param not an array");
    for (const arg of args as unknown[])
      if (typeof arg !== "string") throw Error("args param not a string array");
  }
  if (bytesArgs) {
    if (!Array.isArray(bytesArgs)) throw Error("bytesArgs param not an array");
    for (const arg of bytesArgs as unknown[]) {
      if (typeof arg !== "string" || !/^0x[0-9A-Fa-f]+$/.test(arg)) {
        throw Error("bytesArgs param contains invalid hex string");
      }
    }
  }
}

function acquire(): SandboxPool {
  if (shared === undefined) {
    const network = createSandboxNetwork(DEVELOPER_NETWORK);
    shared = { pool: createSandboxPool({ hostCalls: network.hostCalls }), network, running: 0 };
  }
  clearTimeout(shared.timer);
  shared.running++;
  return shared.pool;
}

function release(): void {
  const mine = shared;
  if (mine === undefined || --mine.running > 0) return;
  mine.timer = setTimeout(() => {
    shared = undefined;
    mine.network.close();
    void mine.pool.close();
  }, LINGER_MS);
}

/**
 * Formats what ends Deno itself, a syntax error or an uncaught error, as Deno prints it on standard error, without colours. `""` for everything
 * else: what a source throws is its result and is not printed.
 */
function formatTerminalError(source: string, error: RunError): string {
  const { kind, message, detail, line, column = 1 } = error;
  if (message !== CRASH_TEXT || detail === undefined || (kind !== "syntax" && kind !== "thrown")) return "";
  const text = line === undefined ? undefined : source.split(/\r\n|[\n\r]/)[line - 1];
  const at = line === undefined ? "" : `    at source.js:${line}:${column}\n`;
  if (kind === "thrown") {
    const shown = text === undefined ? "" : `${text}\n${" ".repeat(column - 1)}^\n`;
    return `error: Uncaught ${detail}\n${shown}${at}`;
  }
  const width = String(line).length;
  const frame =
    text === undefined
      ? ""
      : `${" ".repeat(width)} |\n${line} | ${text}\n${" ".repeat(width)} | ${" ".repeat(column - 1)}~\n`;
  return `error: SyntaxError: ${detail}\n${frame}${at}`;
}
