import { TycheError } from "../lib/errors.ts";
import type { FunctionRefusal } from "./results.ts";

/** The key is missing, malformed, unknown or revoked. */
export class UnauthenticatedError extends TycheError {
  constructor() {
    super("the API key is missing, unknown or revoked; send it in the Authorization header", {
      code: "unauthenticated",
      blame: "caller",
    });
  }
}

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
  constructor(refusal: FunctionRefusal) {
    super(`the dry run of the source failed: ${refusal.err}`, {
      code: "function_failed",
      blame: "caller",
      details: refusal,
    });
  }
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
  constructor(limit: number) {
    super(
      `a subscription has at most ${limit} consumers, and this one has as many; use another dapp for more`,
      {
        code: "too_many_consumers",
        blame: "caller",
        details: { limit },
      },
    );
  }
}

/** The network can't take requests now. */
export class ChainUnavailableError extends TycheError {
  constructor(network: string, why: string, cause?: unknown) {
    super(`${network} can't take requests now: ${why}; try again later`, {
      code: "chain_unavailable",
      blame: "upstream",
      retryable: true,
      cause,
    });
  }
}

/** More requests are waiting than the service lets wait. */
export class OverloadedError extends TycheError {
  constructor(limit: number) {
    super(`${limit} requests are waiting already; try again in a few seconds`, {
      code: "overloaded",
      blame: "us",
      retryable: true,
    });
  }
}
