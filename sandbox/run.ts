import type { Hex } from "viem";
import type { RunLimits } from "./limits.ts";

/** One source to run, with everything that it may see. */
export interface RunRequest {
  /** Body of an async function: JavaScript, or TypeScript that is compiled to it. */
  readonly source: string;
  /** The source's `args`. Absent: `{}`, as the oracle nodes pass it. */
  readonly args?: readonly string[];
  /** The source's `bytesArgs`, as hex text. Absent: `{}`. */
  readonly bytesArgs?: readonly Hex[];
  /** The source's `secrets`. Absent: `{}`. */
  readonly secrets?: Readonly<Record<string, string>>;
  /**
   * Hosts, in lower case, to which a source with that secret may send requests, by the secret's name: `host` at the usual port, or
   * `host:port`. If one is named, the source reaches no host without being named for a secret, and hosts that the pool's `allowHosts` doesn't
   * name by https only; a run that tries fails. Default: no limit.
   */
  readonly allowedHosts?: Readonly<Record<string, readonly string[]>>;
  readonly limits?: Partial<RunLimits>;
  /** Fairness key: callers take turns. Default `""`. */
  readonly caller?: string;
  /**
   * Trust group. Runs that name the same group may share one isolate, one after the other, each with a fresh global object. Name a
   * group only for sources that might as well have the same author, so that a V8 defect that leads from one context into another
   * harms nobody. Default: an isolate of its own.
   */
  readonly group?: string;
  /**
   * Lets runs of this exact source, whoever calls them, share one global object, one after the other, if the source is proved pure
   * (`host/purity`): such a run leaves nothing behind and costs a fraction. Any other source runs as `group` says. Set it only for
   * the operator's own sources. Default false; ignored for an observed run.
   */
  readonly sharesContext?: boolean;
  /** Also reports the use of time and randomness in `touched`. Default false: it replaces `Date` and `Math.random` by probes. */
  readonly observe?: boolean;
  /** Aborts the run: `run` rejects with `run_aborted`, and a child that executes it is killed. */
  readonly signal?: AbortSignal;
}

/**
 * The kind of failure that ended a run: the source threw, did not parse, ran out of time or memory, returned an invalid result, or
 * the child process ended without a verdict.
 */
export type RunErrorKind = "thrown" | "syntax" | "timeout" | "memory" | "result" | "sandbox";

/** Why a run has no result. */
export interface RunError {
  readonly kind: RunErrorKind;
  /** The text that the oracle nodes report. */
  readonly message: string;
  /** Details for a person where `message` lacks them, e.g. the parser's message. */
  readonly detail?: string;
  /** Line in the caller's source, from 1. */
  readonly line?: number;
  /** Column in the caller's source, from 1. */
  readonly column?: number;
  /** Stack of a thrown error; positions are those of the caller's source. */
  readonly stack?: string;
}

/** What a source can ask for that may differ in another run: HTTP, modules from elsewhere, time, randomness. */
export const TOUCHES = ["http", "imports", "time", "randomness"] as const;
/** One of {@link TOUCHES}. */
export type Touch = (typeof TOUCHES)[number];

/** What every run reports besides its outcome. */
export interface RunUsage {
  /** Console output; each line ends with `\n`. */
  readonly console: string;
  /** Whether output past `maxConsoleBytes` was dropped. */
  readonly consoleTruncated: boolean;
  /** Wall-clock time from the start of the source to its outcome, in ms. */
  readonly timeMs: number;
  /** Heap and buffers in use when the source ended, in bytes; 0 if it was killed. */
  readonly memoryBytes: number;
  /** HTTP requests that the source started. */
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

/** The oracle nodes' text for everything that ends Deno itself: syntax, memory, an uncaught error. */
export const CRASH_TEXT = "syntax error, RAM exceeded, or other error";
/** Text for a run whose child process ended without a verdict: nothing is known about the source. The nodes have no text for it. */
export const ENDED_TEXT = "the sandbox process ended without an answer";
/** The oracle nodes' text for a source that ran out of time. */
export const TIMEOUT_TEXT = "script runtime exceeded";
