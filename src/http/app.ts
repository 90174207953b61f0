import { Router } from "@koa/router";
import Koa, { type Middleware } from "koa";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Service } from "../requests/service.ts";
import type { Verifier } from "../verify/verifier.ts";
import type { LogTriggers } from "../triggers/logTriggers.ts";
import type { LateBeaconCalls } from "../requests/lateBeacons.ts";
import type { Secrets } from "../requests/secrets.ts";
import type { Schedules } from "../triggers/schedules.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";
import type { CallCounter } from "../lib/rateLimit.ts";
import type { HttpDeps, RequestState, HttpContext } from "./context.ts";
import { frame, isApiPath, createHttpMetrics } from "./frame.ts";
import { createGuard, type Guard } from "./guard.ts";
import { DEFAULT_LIMITS, type HttpLimits } from "../config/httpLimits.ts";
import type { LiveSchemas } from "./liveSchemas.ts";
import type { Operation } from "./operation.ts";
import type { OperatorPart } from "./operatorPart.ts";
import type { PublicGuard } from "./publicGuard.ts";
import { createResponder } from "./responder.ts";
import { catalogueOperations } from "./routes/catalogue.ts";
import { contractRequestsOperation } from "./routes/contractRequests.ts";
import { consumerOperation, ownConsumersOperation, unlinkOperation } from "./routes/consumers.ts";
import { dappOperations } from "./routes/dapps.ts";
import { explorerOperations } from "./routes/explorer.ts";
import { beaconRoutes } from "./routes/beacon.ts";
import { gatewayRoute, type SecretsGateway } from "./routes/gateway.ts";
import { faucetOperation } from "./routes/faucet.ts";
import { functionOperation, simulateOperation } from "./routes/functions.ts";
import { keyOperations } from "./routes/keys.ts";
import { statusOperations } from "./routes/status.ts";
import { healthRoutes } from "./routes/health.ts";
import { recordChange } from "./recordChange.ts";
import { peopleOperations } from "./routes/people.ts";
import { presetOperation } from "./routes/presets.ts";
import { randomOperation } from "./routes/random.ts";
import { requestOperations } from "./routes/requests.ts";
import { usageOperation } from "./routes/usage.ts";
import { verifyOperation } from "./routes/verify.ts";
import { logTriggerOperations } from "./routes/logTriggers.ts";
import { scheduleOperations } from "./routes/schedules.ts";
import { secretOperations } from "./routes/secrets.ts";
import { webhookOperations } from "./routes/webhooks.ts";
import { TycheError } from "../lib/errors.ts";
import { describeValue } from "../lib/describeValue.ts";

export interface HttpAppOptions {
  readonly service: Service;
  /** Schemas of what the service is asked for. */
  readonly schemas: () => LiveSchemas;
  readonly verifier: Verifier;
  readonly log: Logger;
  /**
   * Metrics registry of the whole process; the HTTP layer adds its own metrics and serves all of them at `/metrics`. One
   * app per registry.
   */
  readonly registry: Registry;
  readonly operator: OperatorPart;
  readonly webhooks: Webhooks;
  readonly schedules: Schedules;
  readonly secrets: Secrets;
  readonly logTriggers: LogTriggers;
  /** Answers `POST /gateway`. */
  readonly gateway: SecretsGateway;
  /** Takes late rounds of drand at `/beacon`. */
  readonly lateBeacons: LateBeaconCalls;
  /** Defaults: {@link DEFAULT_LIMITS}. */
  readonly limits?: Partial<HttpLimits>;
  /**
   * Whether to trust `X-Forwarded-*` from a single proxy in front; of its list of addresses only the last counts. Default
   * `false`.
   */
  readonly trustProxy?: boolean;
  /** Web pages, tried after the API's own routes and before a path counts as unknown. */
  readonly pages: readonly Middleware<RequestState>[];
  /** Guards calls without an API key. */
  readonly guardPublic: PublicGuard;
  /** Counts calls by key and by address. */
  readonly counter: CallCounter;
  /** Aborts when the server is about to close; `/readyz` reports it. */
  readonly leaving: AbortSignal;
  /** Aborts when the server closes: event streams end and new calls are refused. */
  readonly closing: AbortSignal;
  /** Aborts after `closing`: calls that are still waiting answer `still_pending`. */
  readonly closingHard: AbortSignal;
}

/**
 * Creates the HTTP application: the API under `/api`, plus `/healthz`, `/readyz`, `/metrics` and `/openapi.json`.
 * Compiles everything up front, so that a call only looks things up. Doesn't listen: see `startHttp`.
 */
export function createHttpApp(options: HttpAppOptions): Koa<RequestState> {
  const { service, log, operator, counter, guardPublic, leaving, closing, closingHard } = options;
  const deps: HttpDeps = {
    service,
    log,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    schemas: options.schemas,
    leaving,
    closing,
    closingHard,
  };
  const metrics = createHttpMetrics(options.registry);
  const guard = createGuard({ service, operator, limits: deps.limits, counter });
  const operations = describeOperations(deps, options, metrics.streams);
  deps.schemas();

  const router = new Router<RequestState>({ sensitive: true });
  for (const operation of operations) {
    router[operation.method](operation.path, async (ctx) => {
      if (operation.access === "everybody") await guardPublic(ctx);
      else await guard.admit(ctx, operation);
      await recordChange(ctx, operation, operator);
    });
  }
  gatewayRoute(router, { gateway: options.gateway, guardPublic });
  beaconRoutes(router, { lateBeacons: options.lateBeacons, guard, guardPublic, counter });
  healthRoutes(router, { deps, registry: options.registry, operations, guardPublic });

  // A proxy appends the address that it saw; everything before that is the caller's own claim.
  const app = new Koa<RequestState>({ proxy: options.trustProxy ?? false, maxIpsCount: 1 });
  app.on("error", (error: unknown) => log.debug({ err: error }, "connection error"));
  app.use(frame({ log, metrics }));
  app.use(apiLayer({ guard, closing: deps.closing }));
  app.use(router.routes());
  for (const page of options.pages) app.use(page);
  app.use(unmatched());
  return app;
}

function describeOperations(
  deps: HttpDeps,
  { verifier, operator, ...options }: HttpAppOptions,
  openStreams: ReturnType<typeof createHttpMetrics>["streams"],
): readonly Operation[] {
  const responder = createResponder(deps, { openStreams });
  return [
    presetOperation(deps, responder),
    randomOperation(deps, responder),
    consumerOperation(deps, responder),
    unlinkOperation(deps, responder),
    ownConsumersOperation(deps, operator),
    functionOperation(deps, responder),
    simulateOperation(deps),
    ...requestOperations(deps, responder),
    contractRequestsOperation(deps, operator),
    verifyOperation(deps, verifier),
    usageOperation(deps),
    faucetOperation(deps),
    ...catalogueOperations(deps),
    ...webhookOperations(deps, options.webhooks),
    ...secretOperations(deps, options.secrets),
    ...scheduleOperations(deps, options.schedules),
    ...logTriggerOperations(deps, options.logTriggers),
    ...dappOperations(deps, operator),
    ...keyOperations(deps, operator),
    ...statusOperations(deps),
    ...peopleOperations(deps, operator),
    ...explorerOperations(deps, { explorer: operator.explorer, verifier }),
  ];
}

/** The last layer: OPTIONS on a known path, 405 for a known path with another method, 404 for the rest. */
function unmatched(): Middleware<RequestState> {
  return async (ctx) => {
    const allowed = allowedMethods(ctx);
    const isOptions = ctx.method === "OPTIONS";
    // A route that has the method but passed the call on found nothing there: a file that the build doesn't have.
    if (allowed === "" || (!isOptions && allowed.split(", ").includes(ctx.method)))
      throw new TycheError(
        `There is nothing at ${describeValue(ctx.path)}: GET /openapi.json lists the paths`,
        { code: "not_found", blame: "caller" },
      );
    ctx.set("Allow", allowed);
    if (!isOptions)
      throw new TycheError(`${ctx.method} is not allowed at ${ctx.path}: use ${allowed}`, {
        code: "method_not_allowed",
        blame: "caller",
      });
    if (isApiPath(ctx.path)) ctx.set("Access-Control-Allow-Methods", allowed);
    ctx.status = 204;
  };
}

/**
 * Returns the methods of the routes whose path matched, as the router left them in the context; empty if none
 * did.
 */
function allowedMethods(ctx: HttpContext): string {
  const matched = (ctx["matched"] ?? []) as readonly { readonly methods: readonly string[] }[];
  const methods = new Set(matched.flatMap((layer) => layer.methods));
  if (methods.size > 0) methods.add("OPTIONS");
  return [...methods].sort().join(", ");
}

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
function apiLayer(options: {
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
      if (closing.aborted)
        throw new TycheError("The service is closing: try again once it is back", {
          code: "overloaded",
          blame: "us",
          expose: true,
          retryable: true,
          details: { retryAfterMs: 5000 },
        });
      await next();
    } catch (error) {
      await guard.countAnonymous(ctx);
      throw error;
    }
  };
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
