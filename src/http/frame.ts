import { randomUUID } from "node:crypto";
import helmet from "helmet";
import type { Middleware } from "koa";
import type { Logger } from "pino";
import { messageOf } from "../lib/errors.ts";
import { parseTraceparent, tellStep } from "../lib/spans.ts";
import { answerError, type Answer } from "./answer.ts";
import { awaitsContinue } from "./body.ts";
import type { HttpContext, RequestState } from "./context.ts";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** Request ids that callers may choose: nothing that could break a log line or a header. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** Status in log and metrics for a call whose caller left before the response (nginx's number for it). */
const CLIENT_GONE = 499;

/**
 * The outermost layer: assigns the request id, sets the security headers, turns whatever is thrown into a response, and logs
 * and measures the outcome. Logs no header, query or body, so keys and secrets can't reach the log from here.
 */
export function frame(options: {
  readonly log: Logger;
  readonly metrics: HttpMetrics;
}): Middleware<RequestState> {
  const { log, metrics } = options;
  return async (ctx, next) => {
    const [startMs, startedAt] = [Date.now(), performance.now()];
    const given = ctx.get("X-Request-Id");
    ctx.state.requestId = REQUEST_ID.test(given) ? given : randomUUID();
    ctx.set("X-Request-Id", ctx.state.requestId);
    setSecurityHeaders(ctx);
    ctx.state.closers = [];
    metrics.inFlight.inc();
    ctx.res.once("close", () => {
      ctx.state.isClosed = true;
      for (const close of ctx.state.closers) close();
      const ms = performance.now() - startedAt;
      const status = ctx.res.writableFinished ? ctx.status : CLIENT_GONE;
      const route = routeOf(ctx);
      const { errorCode, requestIdOnChain } = ctx.state;
      const request = ctx.response.get("Tyche-Request-Id");
      metrics.inFlight.dec();
      if (errorCode !== undefined) metrics.errors.inc({ code: errorCode });
      metrics.duration.observe({ method: methodOf(ctx), route, status }, ms / 1000);
      if (requestIdOnChain !== undefined) {
        const caller = parseTraceparent(ctx.get("traceparent"));
        tellStep(requestIdOnChain, {
          name: `${methodOf(ctx)} ${route}`,
          isCall: true,
          startMs,
          attributes: { "http.response.status_code": status, "tyche.request": request },
          links: caller === undefined ? [] : [caller],
        });
      }
      log[isRoutine(route) ? "debug" : "info"](
        {
          requestId: ctx.state.requestId,
          method: ctx.method,
          route,
          status,
          ms: Math.round(ms * 100) / 100,
          ...(errorCode === undefined ? {} : { code: errorCode }),
          ...(request === "" ? {} : { request }),
          ...(ctx.state.dapp === undefined ? {} : { dapp: ctx.state.dapp.id, key: ctx.state.dapp.keyId }),
        },
        "request",
      );
    });
    try {
      await next();
    } catch (error) {
      answerThrown(ctx, error, log);
    }
    // Nobody can tell whether such a body still comes, and the next request after it: RFC 9110, section 10.1.1.
    if (awaitsContinue(ctx)) ctx.set("Connection", "close");
  };
}

/** Sends a JSON response; `null` is the body of a 204. */
export function sendJson(ctx: HttpContext, status: number, body: unknown): void {
  ctx.status = status;
  ctx.set("Content-Type", "application/json; charset=utf-8");
  ctx.body = JSON.stringify(body);
}

/** Sends an API response in its envelope. */
export function sendAnswer(ctx: HttpContext, { status, headers, data }: Answer): void {
  if (status >= 400 && typeof data["code"] === "string") ctx.state.errorCode = data["code"];
  ctx.set({ ...headers });
  sendJson(ctx, status, { data });
}

/** Responds to a thrown error, and logs it unless the caller caused it. */
export function answerThrown(ctx: HttpContext, error: unknown, log: Logger): void {
  const answer = answerError(error, { correlationId: ctx.state.requestId });
  const call = { requestId: ctx.state.requestId, route: routeOf(ctx), code: answer.data["code"] };
  if (answer.status === 500) log.error({ ...call, err: error }, "request failed");
  // A reason that callers are told needs no stack, and comes with each of their calls.
  else if (answer.status > 500) log.warn({ ...call, reason: messageOf(error) }, "request failed");
  sendAnswer(ctx, answer);
}

/** Whether a path belongs to the API and its envelope. */
export function isApiPath(path: string): boolean {
  return path === "/api" || path.startsWith("/api/");
}

const setHelmet = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'", "data:"],
      fontSrc: ["'self'"],
      connectSrc: ["'self'"],
      // Only /verifier.html may be framed.
      frameSrc: ["'self'"],
      formAction: ["'self'"],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
  // Subdomains are not ours to decide for. Browsers honor the header over TLS only.
  strictTransportSecurity: { includeSubDomains: false },
  xFrameOptions: { action: "deny" },
});

function setSecurityHeaders(ctx: HttpContext): void {
  setHelmet(ctx.req, ctx.res, (error?: unknown) => {
    if (error !== undefined) throw error;
  });
}

function routeOf(ctx: HttpContext): string {
  const route: unknown = ctx["_matchedRoute"];
  return typeof route === "string" ? route : "unmatched";
}

// Bounds the metric's labels: a caller may send any method name that Node's parser knows.
const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"]);

function methodOf(ctx: HttpContext): string {
  return METHODS.has(ctx.method) ? ctx.method : "other";
}

function isRoutine(route: string): boolean {
  return route === "/healthz" || route === "/readyz" || route === "/metrics";
}

/** The HTTP layer's own metrics, in the given registry. */
type HttpMetrics = ReturnType<typeof createHttpMetrics>;

/** Registers the metrics. Throws if the registry already has them: one app per registry. */
export function createHttpMetrics(registry: Registry) {
  const registers = [registry];
  return {
    registry,
    duration: new Histogram({
      name: "tyche_http_request_duration_seconds",
      help: "Time from the first byte of a request to the end of its answer, by route and status; 499: the caller disconnected.",
      labelNames: ["method", "route", "status"],
      // From a response served from memory up to the wait limit of a call.
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
      registers,
    }),
    errors: new Counter({
      name: "tyche_http_errors_total",
      help: "Answers with an error, by its code.",
      labelNames: ["code"],
      registers,
    }),
    inFlight: new Gauge({
      name: "tyche_http_requests_in_flight",
      help: "Requests being answered, event streams included.",
      registers,
    }),
    streams: new Gauge({
      name: "tyche_http_event_streams",
      help: "Event streams open.",
      registers,
    }),
  };
}
