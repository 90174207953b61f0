import { Router } from "@koa/router";
import type { Context, Middleware } from "koa";
import { assetRoutes } from "./assets.ts";
import { bundleRoutes } from "./bundle.ts";
import { docsRoutes } from "./docs.ts";
import { sessionRoutes, type SessionRoutesOptions } from "./sessionRoutes.ts";
import { isPagePath, sendShell } from "./shell.ts";
import { verifierRoutes, type VerifierPage } from "./verifierRoutes.ts";

/** Dependencies of {@link createWebApp}. */
export interface WebDeps extends SessionRoutesOptions {
  /** The page that verifies results in a browser. */
  readonly getVerifierPage: () => Promise<VerifierPage>;
}

/**
 * Creates the web pages as one layer of the HTTP application: the files of the application, which runs in the browser on the public API,
 * the page that loads it, and the sessions of signed-in users. Nothing is loaded from other sites.
 */
export function createWebApp(options: WebDeps): Middleware {
  const { guard } = options;
  const router = new Router({ sensitive: true });
  assetRoutes(router);
  bundleRoutes(router);
  docsRoutes(router, guard);
  verifierRoutes(router, { guard, getPage: options.getVerifierPage });
  sessionRoutes(router, options);
  const routes = router.routes() as unknown as Middleware;

  return async (ctx, next) => {
    if (ctx.path.startsWith("/api/")) return next();
    if (!wantsPage(ctx)) return routes(ctx, next);
    if (isPagePath(ctx.path)) {
      await guard(ctx);
      sendShell(ctx);
      return undefined;
    }
    return routes(ctx, async () => {
      // For an unknown path, a caller that didn't ask for a page is better served by the API's envelope.
      if (ctx.accepts("json", "html") !== "html") return next();
      await guard(ctx);
      sendShell(ctx);
      ctx.status = 404;
    });
  };
}

function wantsPage(ctx: Context): boolean {
  return (ctx.method === "GET" || ctx.method === "HEAD") && ctx.accepts("html", "json") === "html";
}
