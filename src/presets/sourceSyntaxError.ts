/**
 * A source that is not the body of an async JavaScript function. Callers turn it into a problem of the file that holds it.
 */
export class SourceSyntaxError extends SyntaxError {
  /** 1-based, if the place is known. */
  readonly line: number | undefined;
  readonly column: number | undefined;

  constructor(
    message: string,
    options: { readonly line?: number; readonly column?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "SourceSyntaxError";
    this.line = options.line;
    this.column = options.column;
  }
}

/** A source that ends before what it opens is closed, which is noticed behind it. */
export function describeOpenEnd(source: string, cause: unknown): SourceSyntaxError {
  const lines = source.trimEnd().split("\n");
  const place = { line: lines.length, column: lines.at(-1)!.length + 1 };
  return new SourceSyntaxError("ends before all that it opens is closed", { ...place, cause });
}
