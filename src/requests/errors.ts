import { TycheError } from "../lib/errors.ts";
import type { FunctionRefusal } from "./results.ts";

/** The dapp may not do this. */
export class ForbiddenError extends TycheError {
  constructor(facility: string) {
    super(`this key's dapp lacks the facility "${facility}"; ask the operator to add it`, {
      code: "forbidden",
      blame: "caller",
    });
  }
}

/** There is no such thing for this dapp. */
export class NotFoundError extends TycheError {
  constructor(what: string) {
    super(`there is no ${what}`, { code: "not_found", blame: "caller" });
  }
}

/** The dry run refused a source; nothing was sent. `details` is the answer's body. */
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

/** All that is known of a failure, on one line: a request that ends with it keeps nothing else. */
function describeRefusal({ err, line, column, details = [] }: FunctionRefusal): string {
  const reasons = details.map(({ message }) => message);
  const place = line === undefined ? "" : ` (line ${line}, column ${column ?? 1})`;
  const isPlaced = reasons.some((reason) => reason.includes(place));
  return [isPlaced ? err : `${err}${place}`, ...reasons].join("; ");
}

/** The same idempotency key came with another command before. */
export class IdempotencyConflictError extends TycheError {
  constructor(key: string) {
    super(`the Idempotency-Key "${key}" was used for another request; take a new key`, {
      code: "idempotency_conflict",
      blame: "caller",
    });
  }
}

/** A subscription has all the consumers that it may have. */
export class TooManyConsumersError extends TycheError {
  /** @param limit contracts of a dapp's own, beside the service's. */
  constructor(limit: number) {
    super(
      `this dapp has ${limit} contracts linked, and a subscription takes no more (${limit + 1} with the service's own); unlink one with DELETE /api/vrfv2/consumers/{address}, or use another dapp`,
      {
        code: "too_many_consumers",
        blame: "caller",
        details: { limit },
      },
    );
  }
}

/** More requests are waiting on a network than the service lets wait. */
export class OverloadedError extends TycheError {
  constructor(limit: number) {
    super(`${limit} requests are waiting on this network already; try again in a few seconds`, {
      code: "overloaded",
      blame: "us",
      retryable: true,
    });
  }
}
