/** Whose fault an error is: the caller's, an upstream's (chain, RPC, oracle), or ours. */
export type Blame = "caller" | "upstream" | "us";

/** Everything that a {@link TycheError} carries besides its message. */
export interface TycheErrorOptions {
  /** Stable snake_case name; callers branch on it, never on the message. */
  readonly code: string;
  readonly blame: Blame;
  /** Whether the message was written for callers and may leave the server. Default: `blame` is not `us`. */
  readonly expose?: boolean;
  /** Whether the same call may succeed later without a change. Default `false`. */
  readonly retryable?: boolean;
  /** JSON-safe facts for the caller; never a secret, a path or a raw remote body. */
  readonly details?: unknown;
  readonly cause?: unknown;
}

/**
 * Base class of every error that Tyche throws on purpose. The message says what failed, the value next to what was expected with units,
 * and what to do. A subclass, in the file that throws it, is for errors that are told apart by class, or whose message is composed for
 * several throw sites.
 */
export class TycheError extends Error {
  readonly code: string;
  readonly blame: Blame;
  readonly expose: boolean;
  readonly retryable: boolean;
  readonly details: unknown;

  constructor(message: string, options: TycheErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = options.code;
    this.blame = options.blame;
    this.expose = options.expose ?? options.blame !== "us";
    this.retryable = options.retryable ?? false;
    this.details = options.details;
  }
}

/** What was asked for doesn't exist, or not for this caller. */
export class NotFoundError extends TycheError {
  constructor(what: string, details?: { readonly request: object }) {
    super(`there is no ${what}`, { code: "not_found", blame: "caller", details });
  }
}

/** The caller may not do this. */
export class ForbiddenError extends TycheError {
  constructor(message: string) {
    super(message, { code: "forbidden", blame: "caller" });
  }
}

/** Returns the message of anything that was thrown, for logs and causes. */
export function messageOf(thrown: unknown): string {
  // A failed attempt to connect to several addresses throws an error without a message of its own.
  if (thrown instanceof AggregateError && thrown.message === "")
    return thrown.errors.map(messageOf).join("; ");
  return thrown instanceof Error ? thrown.message : String(thrown);
}
