import type { Router } from "@koa/router";
import type { Context } from "koa";

/** The page that verifies results in a browser: its HTML, and the content security policy that lets it query any node. */
export interface VerifierPage {
  readonly html: string;
  readonly policy: string;
}

/** Adds `/verifier.html`, open to everyone: the page talks only to the node its reader names. */
export function verifierRoutes(
  router: Router,
  options: { readonly guard: (ctx: Context) => Promise<void>; readonly getPage: () => Promise<VerifierPage> },
): void {
  router.get("/verifier.html", async (ctx) => {
    await options.guard(ctx);
    const { html, policy } = await options.getPage();
    ctx.set("Content-Security-Policy", `${policy}; frame-ancestors 'none'`);
    ctx.set("Cache-Control", "no-cache");
    ctx.set("Content-Type", "text/html; charset=utf-8");
    ctx.body = html;
  });
}
