import type { Hex } from "viem";

/** Default `timeoutMs` of a run: the oracle network stops a source after 10 s. */
export const DEFAULT_TIMEOUT_MS = 10_000;

/** Limits of one run; the defaults are the oracle network's own, where it has one. */
export interface RunLimits {
  /** Wall-clock time of the source, in ms. Default 10,000. */
  readonly timeoutMs: number;
  /** JavaScript heap plus buffers, in MB. Default 128. */
  readonly memoryLimitMb: number;
  /** Longest result, in bytes. Default 256. */
  readonly maxResponseBytes: number;
  /** HTTP requests a source may start. Default 5. */
  readonly maxHttpRequests: number;
  /** Longest single HTTP request, in ms. Default 9,000. */
  readonly maxHttpDurationMs: number;
  /** Longest URL, in characters. Default 2,048. */
  readonly maxHttpUrlLength: number;
  /** Longest HTTP request body, in bytes. Default 30,720. */
  readonly maxHttpRequestBytes: number;
  /** Longest decoded HTTP response body, in bytes. Default 2,097,152. */
  readonly maxHttpResponseBytes: number;
  /** Modules a source may import. Default 100. */
  readonly maxImports: number;
  /** Longest imported module, in bytes. Default 10,485,760. */
  readonly maxImportBytes: number;
  /** Console output that is kept, in bytes of UTF-8; the rest is dropped and noted. Default 65,536. */
  readonly maxConsoleBytes: number;
}

/** Limits used where a run names none. Source: the oracle network's service limits. */
export const DEFAULT_LIMITS: RunLimits = {
  timeoutMs: DEFAULT_TIMEOUT_MS,
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

/** One source to run, with everything it may see. */
export interface RunRequest {
  /** Body of an async function: JavaScript, or TypeScript whose types are erased. */
  readonly source: string;
  /** The source's `args`. Absent: `{}`, as the oracle nodes pass it. */
  readonly args?: readonly string[];
  /** The source's `bytesArgs`, as hex text. Absent: `{}`. */
  readonly bytesArgs?: readonly Hex[];
  /** The source's `secrets`. Absent: `{}`. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly limits?: Partial<RunLimits>;
  /** Fairness key: callers take turns. Default `""`. */
  readonly caller?: string;
  /**
   * Trust group. Runs that name the same group may share one isolate, one after the other, each with a fresh
   * global object. Name a group only for sources that may as well have been written by the same author:
   * a defect in V8 that leads from one context into another is then no one's loss. Default: an isolate of its own.
   */
  readonly group?: string;
  /**
   * Lets runs of this very source, whoever their caller is, use one global object, one after the other, if the source is shown to be
   * pure (`host/purity`): such a run leaves nothing behind and costs a fraction. Any other source runs as `group` says.
   * Set it only for sources of the operator's own. Default false; without effect on an observed run.
   */
  readonly sharesContext?: boolean;
  /** Also reports the use of time and randomness in `touched`. Default false: it replaces `Date` and `Math.random` by probes. */
  readonly observe?: boolean;
  /** Takes the run back: `run` rejects with `run_aborted`, and a child that executes it is killed. */
  readonly signal?: AbortSignal;
}

/**
 * What kind of failure ended a run: the source threw, did not parse, ran out of time or memory, returned what
 * can't be a result, or the child process ended without a verdict.
 */
export type RunErrorKind = "thrown" | "syntax" | "timeout" | "memory" | "result" | "sandbox";

/** Why a run has no result. */
export interface RunError {
  readonly kind: RunErrorKind;
  /** The text that the oracle nodes report. */
  readonly message: string;
  /** What a person wants to know where `message` does not say it, e.g. the parser's message. */
  readonly detail?: string;
  /** Line in the caller's source, from 1. */
  readonly line?: number;
  /** Column in the caller's source, from 1. */
  readonly column?: number;
  /** Stack of a thrown error; positions are those of the caller's source. */
  readonly stack?: string;
}

/** What a source can ask for that another run need not give again: HTTP, modules from elsewhere, time, randomness. */
export const TOUCHES = ["http", "imports", "time", "randomness"] as const;
/** One of {@link TOUCHES}. */
export type Touch = (typeof TOUCHES)[number];

/** What every run reports besides its outcome. */
export interface RunUsage {
  /** Console output, lines ended by `\n`. */
  readonly console: string;
  /** Whether output past `maxConsoleBytes` was dropped. */
  readonly consoleTruncated: boolean;
  /** Wall-clock time from the start of the source to its outcome, in ms. */
  readonly timeMs: number;
  /** Heap and buffers in use when the source ended, in bytes; 0 where it was killed. */
  readonly memoryBytes: number;
  /** HTTP requests the source started. */
  readonly httpRequests: number;
  /** What the source asked for, granted or refused. `time` and `randomness` are reported only with `observe`. */
  readonly touched: readonly Touch[];
}

/** Outcome of a run. A source that throws is an outcome, not an error of the sandbox. */
export type RunResult = (
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly error: RunError }
) &
  RunUsage;

/** Text of the oracle nodes for everything that ends Deno itself: syntax, memory, an uncaught error. */
export const CRASH_TEXT = "syntax error, RAM exceeded, or other error";
/** Text for a run whose child process ended without a verdict: nothing is known of the source. The nodes have none for it. */
export const ENDED_TEXT = "the sandbox process ended without an answer";
/** Text of the oracle nodes for a source that ran out of time. */
export const TIMEOUT_TEXT = "script runtime exceeded";
