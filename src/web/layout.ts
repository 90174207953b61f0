import type { Context } from "koa";
import { getEntry } from "./bundle.ts";
import { html, type Html } from "./html.ts";

/** One page. */
export interface Page {
  readonly title: string;
  /** Which entry of the navigation is marked. */
  readonly section?: "home" | "presets" | "functions" | "networks" | "explorer";
  /** Path of pages above this one. */
  readonly trail?: readonly { readonly href: string; readonly text: string }[];
  /** Which application of `src/browser` the page loads. */
  readonly app?: string;
  readonly body: Html;
}

/** Who looks at the page: decides what the navigation offers. */
export interface Viewer {
  /** Whether the application's pages are open to this request. */
  readonly isAdmitted: boolean;
  /** Set in a session: the form token that signing out needs. */
  readonly signOutToken?: string;
}

const SECTIONS = [
  { name: "home", href: "/", text: "Home", isPublic: false },
  { name: "presets", href: "/presets", text: "Presets", isPublic: false },
  { name: "functions", href: "/functions", text: "Functions", isPublic: false },
  { name: "networks", href: "/networks", text: "Networks", isPublic: false },
  { name: "explorer", href: "/explorer", text: "Explorer", isPublic: true },
] as const;

/** Answers with a page. Nothing of ours is kept by caches: what a page shows changes, and some of it is secret. */
export function sendPage(ctx: Context, page: Page, viewer: Viewer): void {
  ctx.set("Cache-Control", "no-store");
  ctx.set("Content-Type", "text/html; charset=utf-8");
  ctx.set("Vary", "Accept, Cookie");
  // With `no-referrer` browsers send `Origin: null` with our own forms, and the check of their origin would refuse them.
  ctx.set("Referrer-Policy", "same-origin");
  ctx.body = renderPage(page, viewer);
}

function renderPage(
  { title, section, trail = [], app, body }: Page,
  { isAdmitted, signOutToken }: Viewer,
): string {
  const entries = SECTIONS.filter(({ isPublic }) => isPublic || isAdmitted);
  const entry = app === undefined ? undefined : getEntry(app);
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Tyche</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/style.css">
${entry?.styles.map(
  (href) => html`<link rel="stylesheet" href="${href}">
`,
)}<script type="module" src="/assets/app.js"></script>
${
  entry !== undefined &&
  html`<script type="module" src="${entry.script}"></script>
`
}</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="top"><div class="bar">
<a class="brand" href="${isAdmitted ? "/" : "/explorer"}">Tyche</a>
<nav aria-label="Main">${entries.map(({ name, href, text }) => html`<a href="${href}"${name === section && html` aria-current="page"`}>${text}</a>`)}<a href="/docs">API</a></nav>
${!isAdmitted && html`<a class="side" href="/sign-in">Sign in</a>`}
${signOutToken !== undefined && html`<form class="side" method="post" action="/sign-out"><input type="hidden" name="token" value="${signOutToken}"><button class="plain">Sign out</button></form>`}
</div></header>
<main id="main" tabindex="-1">
${trail.length > 0 && html`<nav class="trail" aria-label="Path">${trail.map(({ href, text }, i) => html`${i > 0 && html`<span aria-hidden="true"> / </span>`}<a href="${href}">${text}</a>`)}</nav>`}
${body}
</main>
<div id="announcer" class="visually-hidden" role="status" aria-live="polite"></div>
</body>
</html>`;
  return document.toString();
}
