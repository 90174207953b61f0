import type { RunErrorKind, RunLimits } from "../../../sandbox/index.ts";

/** The nodes' text for anything that ended the process: syntax, memory, an uncaught error. */
export const CRASH = "syntax error, RAM exceeded, or other error";
export const TIMEOUT = "script runtime exceeded";

/** One hostile source and the only ways in which it may end. */
export interface HostileCase {
  readonly name: string;
  readonly source: string;
  /** Text of the result, if it may succeed. */
  readonly ok?: string;
  /** Text of the error, if it may fail. */
  readonly error?: string | RegExp;
  readonly kinds?: readonly RunErrorKind[];
  readonly limits?: Partial<RunLimits>;
}

/** Small enough that sources that take memory slowly reach it before their time is up. */
const SMALL_MEMORY_MB = 8;

type Options = Omit<HostileCase, "name" | "source">;

/** Describes a source that ends by returning this text. */
export const returns = (name: string, source: string, ok: string, more: Options = {}): HostileCase => ({
  name,
  source,
  ok,
  ...more,
});
/** Describes a source that ends with this error text. */
export const fails = (
  name: string,
  source: string,
  error: string | RegExp,
  more: Options = {},
): HostileCase => ({
  name,
  source,
  error,
  ...more,
});
/** Describes a source that ends because its time is up. */
export const timesOut = (name: string, source: string, more: Options = {}): HostileCase => ({
  name,
  source,
  error: TIMEOUT,
  kinds: ["timeout"],
  ...more,
});
/** Describes a source that is stopped for its memory use, or, on a slow machine, for its time. */
export const exhausts = (name: string, source: string, more: Options = {}): HostileCase => ({
  name,
  source,
  error: /^(syntax error, RAM exceeded, or other error|script runtime exceeded)$/,
  kinds: ["memory", "timeout", "sandbox"],
  ...more,
  limits: { timeoutMs: 4_000, memoryLimitMb: SMALL_MEMORY_MB, ...more.limits },
});
/** Describes a source that does not parse. */
export const garbles = (name: string, source: string, more: Options = {}): HostileCase => ({
  name,
  source,
  error: CRASH,
  kinds: ["syntax"],
  ...more,
});
