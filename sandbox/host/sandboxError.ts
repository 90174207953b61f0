/** What a {@link SandboxError} carries besides its message. */
export interface SandboxErrorOptions {
  /** Stable snake_case name; callers branch on it, never on the message. */
  readonly code: string;
  /** Who must act: the caller changes the run, or the sandbox's operator fixes it. */
  readonly blame: "caller" | "us";
  /** Whether the same call may succeed later unchanged. Default `false`. */
  readonly retryable?: boolean;
  /** JSON-safe facts; never a secret, a path or anything that a source wrote. */
  readonly details?: unknown;
  readonly cause?: unknown;
}

/**
 * Base of every error that the sandbox throws on purpose. A failing source is not an error: its run has a result that says so.
 */
export class SandboxError extends Error {
  readonly code: string;
  readonly blame: "caller" | "us";
  readonly retryable: boolean;
  readonly details: unknown;

  constructor(message: string, options: SandboxErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = options.code;
    this.blame = options.blame;
    this.retryable = options.retryable ?? false;
    this.details = options.details;
  }
}

/** An option of a pool or a network that can't be used. */
export class SandboxOptionError extends SandboxError {
  declare readonly details: { readonly option: string; readonly entry: string; readonly expected: string };

  /**
   * @param option Name of the option, e.g. `allowHosts`.
   * @param entry The entry as given.
   * @param expected The form of a valid entry, with an example.
   */
  constructor(option: string, entry: string, expected: string) {
    super(`${option}: ${JSON.stringify(entry.slice(0, 200))} can't be used: ${expected}`, {
      code: "invalid_option",
      blame: "caller",
      details: { option, entry: entry.slice(0, 200), expected },
    });
  }
}

/** Returns the message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
