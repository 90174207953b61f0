import type { Middleware } from "koa";
import { TycheError } from "../lib/errors.ts";
import type { HttpContext, RequestState } from "./context.ts";
import { isApiPath } from "./frame.ts";
import type { Guard } from "./guard.ts";

/** Request headers that pages of other origins may send, and response headers that they may read. */
const ALLOWED_HEADERS =
  "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Prefer, Tyche-Dapp, X-Request-Id, Accept";
const EXPOSED_HEADERS =
  "Location, Preference-Applied, RateLimit, RateLimit-Policy, Retry-After, Tyche-Request-Id, WWW-Authenticate, X-Request-Id";

/**
 * Applies the rules for every path under `/api`: responses are never cached, calls without a valid key are counted by address, and no
 * call is accepted while the server closes.
 *
 * CORS: every origin may call, without credentials. The key that the caller itself puts into a header is the only proof of identity,
 * and cookies have no effect, so a foreign page can do nothing that its author couldn't do with curl.
 */
export function apiLayer(options: {
  readonly guard: Guard;
  readonly closing: AbortSignal;
}): Middleware<RequestState> {
  const { guard, closing } = options;
  return async (ctx, next) => {
    if (!isApiPath(ctx.path)) {
      await next();
      return;
    }
    setApiHeaders(ctx);
    try {
      if (closing.aborted) throw new ClosingError();
      await next();
    } catch (error) {
      await guard.countAnonymous(ctx);
      throw error;
    }
  };
}

/** A call arrived while the server was closing. */
export class ClosingError extends TycheError {
  constructor() {
    super("The service is closing: try again once it is back", {
      code: "overloaded",
      blame: "us",
      expose: true,
      retryable: true,
      details: { retryAfterMs: 5000 },
    });
  }
}

function setApiHeaders(ctx: HttpContext): void {
  ctx.set("Cache-Control", "no-store");
  ctx.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  ctx.set("Cross-Origin-Resource-Policy", "cross-origin");
  ctx.set("Access-Control-Allow-Origin", "*");
  ctx.set("Access-Control-Expose-Headers", EXPOSED_HEADERS);
  if (ctx.method === "OPTIONS") {
    ctx.set("Access-Control-Allow-Headers", ALLOWED_HEADERS);
    ctx.set("Access-Control-Max-Age", "86400");
  }
}
