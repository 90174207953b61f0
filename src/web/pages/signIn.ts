import type { Router } from "@koa/router";
import type { Context } from "koa";
import { readForm } from "../form.ts";
import { html } from "../html.ts";
import { sendPage } from "../layout.ts";
import type { Site } from "../site.ts";
import { problemAttributes, problemNote } from "./parts.ts";

/** Adds `/sign-in` and `/sign-out`. */
export function signInRoutes(router: Router, site: Site): void {
  const { access, guard, log } = site.deps;

  const show = (ctx: Context, next: string, problem?: string): void =>
    sendPage(
      ctx,
      {
        title: "Sign in",
        body: html`<h1>Sign in</h1>
<p class="lead">This service asks for its operator token: the content of <code>operator-token</code> in its data directory, or what the operator keeps in its place.</p>
<section class="panel narrow"><form method="post" action="/sign-in" class="fields"><input type="hidden" name="next" value="${next}">
<div class="field wide"><label for="operator-token">Operator token</label><input id="operator-token" name="operatorToken" type="password" required autocomplete="current-password" spellcheck="false"${problemAttributes("operator-token", problem)}>${problemNote("operator-token", problem)}</div>
<div><button class="action">Sign in</button></div></form></section>`,
      },
      access.viewerOf(ctx),
    );

  /** The link of a start is not enough: a preview of it must not use it up. */
  const confirm = (ctx: Context, code: string): void =>
    sendPage(
      ctx,
      {
        title: "Sign in",
        body: html`<h1>Sign in</h1>
<p class="lead">This link was printed when the service started. It works once.</p>
<section class="panel narrow"><form method="post" action="/sign-in" class="fields"><input type="hidden" name="code" value="${code}"><input type="hidden" name="next" value="/"><div><button class="action">Sign in</button></div></form></section>`,
      },
      access.viewerOf(ctx),
    );

  router.get("/sign-in", async (ctx) => {
    await guard(ctx);
    const { code } = ctx.query;
    const next = ownPath(String(ctx.query["next"] ?? "/"));
    if (access.isAdmitted(ctx)) ctx.redirect(next);
    else if (typeof code === "string") confirm(ctx, code);
    else show(ctx, next);
  });
  router.post("/sign-in", async (ctx) => {
    await guard(ctx);
    access.checkOrigin(ctx);
    const form = await readForm(ctx);
    const next = ownPath(form.get("next"));
    const isByLink = form.has("code");
    const isOpened = isByLink
      ? await access.signInOnce(ctx, form.get("code"))
      : await access.signIn(ctx, form.get("operatorToken"));
    if (isOpened) {
      log.info({ address: ctx.ip }, "signed in");
      ctx.redirect(next);
      ctx.status = 303;
      return;
    }
    log.warn({ address: ctx.ip }, "a sign-in was refused");
    ctx.status = 403;
    const problem = "This is not the operator token.";
    show(
      ctx,
      next,
      isByLink ? "This link was used before, or is of an earlier start. Give the operator token." : problem,
    );
  });
  site.post("/sign-out", async (ctx) => {
    await access.signOut(ctx);
    ctx.redirect("/explorer");
    ctx.status = 303;
  });
}

const OWN = "http://own.invalid";

/**
 * A path of this server, from text that may name anything; `/` for anything else. What comes out is parsed once more, as a browser does
 * with the redirect: the path of `/.//evil.example` is `//evil.example`, which names another server.
 */
function ownPath(text: string): string {
  if (!text.startsWith("/")) return "/";
  const url = URL.parse(text, OWN);
  const path = url?.origin === OWN ? url.pathname + url.search : "/";
  return URL.parse(path, OWN)?.href === OWN + path ? path : "/";
}
