import type { SimulateResult } from "../api/types.ts";
import { TycheError } from "../lib/errors.ts";

/** The dapp lacks a facility. */
export class ForbiddenError extends TycheError {
  constructor(facility: string) {
    super(`this key's dapp lacks the facility "${facility}"; ask the operator to add it`, {
      code: "forbidden",
      blame: "caller",
    });
  }
}

/** What was asked for doesn't exist for this dapp. */
export class NotFoundError extends TycheError {
  constructor(what: string) {
    super(`there is no ${what}`, { code: "not_found", blame: "caller" });
  }
}

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

/** A subscription has as many consumers as it may have. */
export class TooManyConsumersError extends TycheError {
  /** @param limit maximum number of a dapp's own contracts, without the service's. */
  constructor(limit: number) {
    super(
      `this dapp has ${limit} contracts linked, the most that a subscription takes (${limit + 1} with the service's own); unlink one with DELETE /api/vrfv2/consumers/{address}, or use another dapp`,
      {
        code: "too_many_consumers",
        blame: "caller",
        details: { limit },
      },
    );
  }
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
