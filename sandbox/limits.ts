/** Limits of one run; the defaults are the oracle network's own where it has any. */
export interface RunLimits {
  /** Wall-clock time of the source, in ms. Default 10,000: the oracle network stops it then. */
  readonly timeoutMs: number;
  /** JavaScript heap plus buffers, in MB. Default 128. */
  readonly memoryLimitMb: number;
  /** Longest result, in bytes. Default 256. */
  readonly maxResponseBytes: number;
  /** HTTP requests that a source may start. Default 5. */
  readonly maxHttpRequests: number;
  /** Longest single HTTP request, in ms. Default 9,000. */
  readonly maxHttpDurationMs: number;
  /** Longest URL, in characters. Default 2,048. */
  readonly maxHttpUrlLength: number;
  /** Longest HTTP request body, in bytes. Default 30,720. */
  readonly maxHttpRequestBytes: number;
  /** Longest decoded HTTP response body, in bytes. Default 2,097,152. */
  readonly maxHttpResponseBytes: number;
  /** Modules that a source may import. Default 100. */
  readonly maxImports: number;
  /** Longest imported module, in bytes. Default 10,485,760. */
  readonly maxImportBytes: number;
  /** Console output kept, in bytes of UTF-8; the rest is dropped and flagged. Default 65,536. */
  readonly maxConsoleBytes: number;
}

/** Limits for a run that sets none. Source: the oracle network's service limits. */
export const DEFAULT_LIMITS: RunLimits = {
  timeoutMs: 10_000,
  memoryLimitMb: 128,
  maxResponseBytes: 256,
  maxHttpRequests: 5,
  maxHttpDurationMs: 9_000,
  maxHttpUrlLength: 2_048,
  maxHttpRequestBytes: 30_720,
  maxHttpResponseBytes: 2_097_152,
  maxImports: 100,
  maxImportBytes: 10_485_760,
  maxConsoleBytes: 65_536,
};

/** What a run may ask for. */
export const LIMIT_RANGES: Readonly<Record<keyof RunLimits, readonly [min: number, max: number]>> = {
  timeoutMs: [1, 600_000],
  memoryLimitMb: [8, 512],
  maxResponseBytes: [0, 1_048_576],
  maxHttpRequests: [0, 1_000],
  maxHttpDurationMs: [0, 600_000],
  maxHttpUrlLength: [0, 65_536],
  maxHttpRequestBytes: [0, 1_048_576],
  maxHttpResponseBytes: [0, 33_554_432],
  maxImports: [0, 1_000],
  maxImportBytes: [0, 33_554_432],
  maxConsoleBytes: [0, 1_048_576],
};

/** Host calls that a source may make in all; more than that is a flood. */
export const MAX_CALLS = 1_000;
/** Host calls of a run that are served at once; the child holds back the others. */
export const MAX_OPEN_CALLS = 64;
/** Longest header of a host call, in bytes: a URL, a request's headers (16 KiB) and a method, with room for escapes. */
export const MAX_CALL_HEADER_BYTES = 128 * 1_024;
/** Most console output in one frame, in bytes. */
export const MAX_CONSOLE_PIECE_BYTES = 16 * 1_024;

/** Longest message of a host call, in bytes. A request body is cut one byte past its limit, to show that it is too long. */
export function maxCallBytes({ maxHttpRequestBytes }: RunLimits): number {
  return 4 + MAX_CALL_HEADER_BYTES + maxHttpRequestBytes + 1;
}
