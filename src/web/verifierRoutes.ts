import type { Router } from "@koa/router";
import type { Context } from "koa";
import { sendStored, storeFile, type StoredFile } from "../lib/storedFile.ts";

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
  let stored: { readonly page: VerifierPage; readonly file: StoredFile } | undefined;
  router.get("/verifier.html", async (ctx) => {
    await options.guard(ctx);
    const page = await options.getPage();
    if (stored?.page !== page) stored = { page, file: storeFile("text/html; charset=utf-8", page.html) };
    ctx.set("Content-Security-Policy", `${page.policy}; frame-ancestors 'none'`);
    ctx.set("Cache-Control", "no-cache");
    sendStored(ctx, stored.file);
  });
}
