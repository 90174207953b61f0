import type { Router } from "@koa/router";
import type { Context } from "koa";
import { SECTIONS } from "../lib/sections.ts";
import { getEntry } from "./bundle.ts";
import { headOf } from "./shell.ts";

/** Links to the application's sections; its own are for those who are signed in, as the page's script finds out. */
const LINKS = SECTIONS.map(
  ({ href, text, isPublic }) => `<a${isPublic ? "" : ' class="own"'} href="${href}">${text}</a>`,
).join("");

/** Adds `/docs`: the page for reading and trying the API, rendered in the browser from `/openapi.json`. */
export function docsRoutes(router: Router, guard: (ctx: Context) => Promise<void>): void {
  router.get("/docs", async (ctx) => {
    await guard(ctx);
    ctx.set("Cache-Control", "no-store");
    ctx.set("Content-Type", "text/html; charset=utf-8");
    ctx.body = `<!doctype html>
<html lang="en">
<head>
${headOf("API · Tyche", getEntry("docs"))}
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="top"><div class="bar">
<a class="brand" href="/">Tyche</a>
<nav aria-label="Main">${LINKS}<a href="/docs" aria-current="page">API</a></nav>
<a class="side" href="/openapi.json">openapi.json</a>
</div></header>
<main id="main" tabindex="-1">
<h1>API</h1>
<p class="lead">Every call, with examples in several languages, and a form to try it.</p>
<p><button id="take-key" type="button" disabled>Use a dapp's API key</button> <span id="told" class="note" role="status"></span></p>
<h2>Calls</h2>
<div id="docs"><p class="note loading">Reading /openapi.json …</p></div>
<section id="errors" class="panel"><h2>Errors</h2><div class="scroll" tabindex="0" role="region" aria-label="Errors"><table class="list"></table></div></section>
</main>
<noscript><p>This page reads <a href="/openapi.json">/openapi.json</a> with JavaScript; the document itself says the same.</p></noscript>
</body>
</html>`;
  });
}
