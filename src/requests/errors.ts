import type { SimulateResult } from "../api/types.ts";
import { TycheError } from "../lib/errors.ts";

/** Body of a 422: a function's result with `success: false`, and what the dry run captured. */
export type FunctionRefusal = Pick<
  SimulateResult,
  "err" | "console" | "line" | "column" | "details" | "warnings"
> & {
  readonly success: false;
  /** Empty: no request exists. */
  readonly requestId: "";
  readonly result: "0x";
  readonly parsedResult: "";
  /** Empty: no transaction was sent. */
  readonly url: "";
};

/** A source failed its dry run, and nothing was sent. `details` is the response body. */
export class FunctionFailedError extends TycheError {
  declare readonly details: FunctionRefusal;

  constructor(refusal: FunctionRefusal) {
    super(`the dry run of the source failed: ${describeRefusal(refusal)}`, {
      code: "function_failed",
      blame: "caller",
      details: refusal,
    });
  }
}

/** Describes a failure completely, on one line: a request that ends with it stores nothing else. */
function describeRefusal({ err, line, column, details = [] }: FunctionRefusal): string {
  const reasons = details.map(({ message }) => message);
  const place = line === undefined ? "" : `line ${line}, column ${column ?? 1}`;
  return [err.includes(place) ? err : `${err} (${place})`, ...reasons].join("; ");
}

/** A network has as many open requests as the service allows. */
export class OverloadedError extends TycheError {
  constructor(limit: number) {
    super(`${limit} requests are waiting on this network already; try again in a few seconds`, {
      code: "overloaded",
      blame: "us",
      retryable: true,
    });
  }
}
