import { TycheError } from "./errors.ts";

/** One thing that is wrong with a request's parameters. */
export interface ParameterViolation {
  /** JSON Pointer (RFC 6901) to the parameter, whether it came in the query, the body or a header: `/min`, `/list/3`, `/Idempotency-Key`; `""` is the body itself. */
  readonly path: string;
  /** What is wrong, naming the value next to what was expected. */
  readonly message: string;
}

/** Maximum number of violations that the message names; `details` has all of them. */
const MAX_NAMED = 10;

/**
 * Parameters can't be used. Carries every violation found, not just the first. The HTTP layer merges the violations of several of these
 * into one 400 answer.
 */
export class InvalidParameterError extends TycheError {
  override readonly details: readonly ParameterViolation[];
  /** Whether the rest of the request can't be checked until these are corrected. */
  readonly precludesOthers: boolean;

  constructor(
    violations: readonly ParameterViolation[],
    options: { readonly cause?: unknown; readonly precludesOthers?: boolean } = {},
  ) {
    super(summarize(violations), {
      code: "invalid_parameter",
      blame: "caller",
      cause: options.cause,
    });
    this.details = violations;
    this.precludesOthers = options.precludesOthers ?? false;
  }
}

/** Parses each member; throws `invalid_parameter` with the violations of all of them. Any other error is thrown at once. */
export function parseAll<T extends object>(parsers: { readonly [Name in keyof T]: () => T[Name] }): T {
  const violations: ParameterViolation[] = [];
  const parsed: Record<string, unknown> = {};
  for (const [name, parse] of Object.entries<() => unknown>(parsers)) {
    try {
      parsed[name] = parse();
    } catch (error) {
      if (!(error instanceof InvalidParameterError)) throw error;
      violations.push(...error.details);
    }
  }
  if (violations.length > 0) throw new InvalidParameterError(violations);
  return parsed as T;
}

function summarize(violations: readonly ParameterViolation[]): string {
  const named = violations.slice(0, MAX_NAMED).map(describe);
  const more = violations.length - named.length;
  return named.join("; ") + (more > 0 ? `; and ${more} more` : "");
}

function describe({ path, message }: ParameterViolation): string {
  return path === "" ? message : `${path.slice(1).replaceAll("/", ".")}: ${message}`;
}
