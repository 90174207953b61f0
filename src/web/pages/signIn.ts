import type { Router } from "@koa/router";
import type { Context } from "koa";
import { readForm } from "../form.ts";
import { html } from "../html.ts";
import { sendPage } from "../layout.ts";
import type { Site } from "../site.ts";
import { problemAttributes, problemNote } from "./parts.ts";

/** Adds `/sign-in` and `/sign-out`. */
export function signInRoutes(router: Router, site: Site): void {
  const { access, log } = site.deps;

  const show = (ctx: Context, next: string, problem?: string): void =>
    sendPage(
      ctx,
      {
        title: "Sign in",
        body: html`<h1>Sign in</h1>
<p class="lead">This service asks for its operator token: the content of <code>operator-token</code> in its data directory.</p>
<section class="panel narrow"><form method="post" action="/sign-in" class="fields"><input type="hidden" name="next" value="${next}">
<div class="field wide"><label for="operator-token">Operator token</label><input id="operator-token" name="operatorToken" type="password" required autocomplete="current-password" spellcheck="false"${problemAttributes("operator-token", problem)}>${problemNote("operator-token", problem)}</div>
<div><button class="action">Sign in</button></div></form></section>`,
      },
      access.viewerOf(ctx),
    );

  router.get("/sign-in", (ctx) => {
    const next = ownPath(String(ctx.query["next"] ?? "/"));
    if (access.isAdmitted(ctx)) ctx.redirect(next);
    else show(ctx, next);
  });
  router.post("/sign-in", async (ctx) => {
    access.checkOrigin(ctx);
    const form = await readForm(ctx);
    const next = ownPath(form.get("next"));
    if (access.signIn(ctx, form.get("operatorToken"))) {
      log.info({ address: ctx.ip }, "signed in");
      ctx.redirect(next);
      ctx.status = 303;
      return;
    }
    log.warn({ address: ctx.ip }, "a sign-in was refused");
    ctx.status = 403;
    show(ctx, next, "This is not the operator token.");
  });
  site.post("/sign-out", async (ctx) => {
    access.signOut(ctx);
    ctx.redirect("/explorer");
    ctx.status = 303;
  });
}

/** A path of this server, from text that may name anything: `//evil.example`, `/\evil.example` and full URLs are not. */
function ownPath(text: string): string {
  const url = URL.parse(text, "http://own.invalid");
  return url?.origin === "http://own.invalid" && text.startsWith("/") ? url.pathname + url.search : "/";
}
