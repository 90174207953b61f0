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
