import { Router } from "@koa/router";
import type { Context, Middleware } from "koa";
import { assetRoutes } from "./assets.ts";
import { bundleRoutes } from "./bundle.ts";
import { refusalOf, sendRefusal, wantsJson, type Refusal } from "./answer.ts";
import { explorerRoutes } from "./explorer/routes.ts";
import { configVarsRoutes } from "./pages/configVars.ts";
import { consumerRoutes } from "./pages/consumers.ts";
import { dappRoutes } from "./pages/dapp.ts";
import { dryRunRoutes } from "./pages/dryRuns.ts";
import { functionRoutes } from "./pages/functions.ts";
import { homeRoutes } from "./pages/home.ts";
import { networkRoutes } from "./pages/networks.ts";
import { presetRoutes } from "./pages/presets.ts";
import { requestRoutes } from "./pages/requests.ts";
import { settingsRoutes } from "./pages/settings.ts";
import { sharedResultRoutes } from "./pages/sharedResult.ts";
import { signInRoutes } from "./pages/signIn.ts";
import { usageRoutes } from "./pages/usage.ts";
import { verifierRoutes } from "./verifierRoutes.ts";
import { createSite, type WebDeps } from "./site.ts";

/**
 * Creates the web pages as one layer of the HTTP application: the application itself at `/`, for whom `Access` admits, and the explorer of
 * our own chains at `/explorer`, for everybody. Pages are made on the server; scripts only add comfort, and nothing comes from elsewhere.
 */
export function createWebApp(options: WebDeps): Middleware {
  const { access, log } = options;
  const guard = async (ctx: Context): Promise<void> => {
    await options.guard(ctx);
    await access.recognize(ctx);
  };
  const deps = { ...options, guard };
  const router = new Router({ sensitive: true });
  const site = createSite(router, deps);
  assetRoutes(router);
  bundleRoutes(router);
  verifierRoutes(router, { guard: deps.guard, getPage: deps.getVerifierPage });
  explorerRoutes(router, {
    explorer: deps.explorer,
    service: deps.service,
    guard: deps.guard,
    viewerOf: (ctx) => access.viewerOf(ctx),
  });
  sharedResultRoutes(router, {
    service: deps.service,
    guard: deps.guard,
    viewerOf: (ctx) => access.viewerOf(ctx),
  });
  for (const add of [
    homeRoutes,
    dappRoutes,
    configVarsRoutes,
    consumerRoutes,
    requestRoutes,
    dryRunRoutes,
    usageRoutes,
    settingsRoutes,
    presetRoutes,
    functionRoutes,
    networkRoutes,
  ])
    add(site);
  signInRoutes(router, site);
  const routes = router.routes() as unknown as Middleware;

  return async (ctx, next) => {
    if (ctx.path.startsWith("/api/")) return next();
    try {
      return await routes(ctx, next);
    } catch (error) {
      const refusal = describe(ctx, error);
      if (refusal === undefined) throw error;
      if (refusal.status === 500)
        log.error({ err: error, requestId: ctx.state["requestId"] }, "a page failed");
      // Of a page that is none no guard knows who asks.
      await access.recognize(ctx).catch(() => {});
      sendRefusal(ctx, refusal, access.viewerOf(ctx));
      return undefined;
    }
  };

  /** `undefined` where the API's envelope is the better answer: to whoever didn't ask for a page at a path that is none of ours. */
  function describe(ctx: Context, error: unknown): Refusal | undefined {
    const isOurs = router.match(ctx.path, ctx.method).route;
    const prefersPage = ctx.accepts("json", "html") === "html";
    if (!isOurs && !prefersPage) return undefined;
    const refusal = refusalOf(error);
    if (refusal !== undefined) return refusal;
    if (!isOurs || wantsJson(ctx)) return undefined;
    const message = `Something failed on our side. The log has more under ${String(ctx.state["requestId"])}.`;
    return { status: 500, code: "internal", title: "Something failed", message };
  }
}
