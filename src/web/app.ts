import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { Router } from "@koa/router";
import type { Context, Middleware } from "koa";
import type { Explorer, PageSubject } from "../explorer/explorer.ts";
import { withDeadline } from "../lib/deadline.ts";
import { NotFoundError } from "../lib/errors.ts";
import { bundleRoutes, getEntry, type BundleEntry } from "./bundle.ts";
import { sessionRoutes, type SessionRoutesOptions } from "./sessionRoutes.ts";
import { createLinkPreview, type LinkPreview } from "./linkPreview.ts";
import type { Service } from "../requests/service.ts";
import { sendStored, storeFile, type StoredFile } from "../lib/storedFile.ts";
import { SECTIONS } from "../lib/sections.ts";

/** Dependencies of {@link createWebApp}. */
export interface WebDeps extends SessionRoutesOptions {
  /** The page that verifies results in a browser. */
  readonly getVerifierPage: () => Promise<VerifierPage>;
  readonly getShared: Service["getShared"];
  readonly explorer: Pick<Explorer, "lacks">;
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
      const [, id] = SHARED.exec(ctx.path) ?? [];
      const shared =
        id === undefined
          ? undefined
          : await options.getShared(id).catch((error: unknown) => {
              if (error instanceof NotFoundError) ctx.status = 404;
              return undefined;
            });
      if (await lacksSubject(ctx.path, options.explorer)) ctx.status = 404;
      sendShell(ctx, shared && createLinkPreview(shared));
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

/** A page of the explorer about something on a network. */
const EXPLORED = /^\/explorer\/([a-z][a-z0-9_]*)(?:\/(tx|block|address)\/([^/]+))?(?:\/|$)/;
/** Pages of the explorer that are about no network. */
const GENERAL = new Set(["search", "requests"]);
/** What can't be looked up so soon is taken to exist: the page says itself what it finds. */
const LOOK_UP_MS = 2_000;

/** Whether a page of the explorer is about something that doesn't exist. */
async function lacksSubject(path: string, explorer: WebDeps["explorer"]): Promise<boolean> {
  const [, network, kind, id] = EXPLORED.exec(path) ?? [];
  if (network === undefined || GENERAL.has(network)) return false;
  const subject =
    kind === undefined || id === undefined ? undefined : { kind: kind as PageSubject["kind"], id };
  return await withDeadline(explorer.lacks(network, subject), LOOK_UP_MS).catch(() => false);
}

function wantsPage(ctx: Context): boolean {
  return (ctx.method === "GET" || ctx.method === "HEAD") && ctx.accepts("html", "json") === "html";
}

const FOLDER = new URL("./static/", import.meta.url);
const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  md: "text/markdown; charset=utf-8",
};

/** Serves style sheet, scripts and icon under `/assets/`, which browsers revalidate. */
function assetRoutes(router: Router): void {
  for (const name of readdirSync(FOLDER)) {
    const type = TYPES[name.slice(name.lastIndexOf(".") + 1)];
    if (type === undefined) continue;
    const file = storeFile(type, readFileSync(new URL(name, FOLDER)));
    router.get(`/assets/${name}`, (ctx) => {
      ctx.set("Cache-Control", "no-cache");
      sendStored(ctx, file);
    });
  }
}

/** Links to the application's sections; its own are for those who are signed in, as the page's script finds out. */
const LINKS = SECTIONS.map(
  ({ href, text, isPublic }) => `<a${isPublic ? "" : ' class="own"'} href="${href}">${text}</a>`,
).join("");

/** The pages of the documentation: beside the sources, or above `dist` in the package. */
const GUIDES = ["../../docs/", "../../../docs/"]
  .map((place) => new URL(place, import.meta.url))
  .find((folder) => existsSync(new URL("README.md", folder)))!;

/**
 * Adds `/docs`: the page for reading and trying the API, rendered in the browser from `/openapi.json`; and the guides of this version, each
 * as a page, `/docs/{name}`, and as the Markdown that the page renders, `/docs/{name}.md`.
 */
function docsRoutes(router: Router, guard: (ctx: Context) => Promise<void>): void {
  const addPage = (address: string, heading: string): void => {
    router.get(address, async (ctx) => {
      await guard(ctx);
      ctx.set("Cache-Control", "no-store");
      ctx.set("Content-Type", "text/html; charset=utf-8");
      ctx.body = docsPage(heading);
    });
  };
  addPage("/docs", REFERENCE_HEADING);
  for (const name of readdirSync(GUIDES, { recursive: true, encoding: "utf8" })) {
    const type = TYPES[path.extname(name).slice(1)];
    if (type === undefined) continue;
    if (name.endsWith(".md")) addPage(`/docs/${name.slice(0, -3)}`, "");
    let file: StoredFile | undefined;
    router.get(`/docs/${name}`, async (ctx) => {
      await guard(ctx);
      file ??= storeFile(type, readFileSync(new URL(name, GUIDES)));
      ctx.set("Cache-Control", "no-cache");
      sendStored(ctx, file);
    });
  }
}

const REFERENCE_HEADING = `<h1>API</h1>
<p class="lead">Every call, with its fields, examples in several languages, and a form to try it.</p>`;

/** Returns the page that the script of `/docs` fills. */
function docsPage(heading: string): string {
  return `<!doctype html>
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
<main id="main" class="reference" tabindex="-1">
<nav id="side" aria-label="Contents"><button id="menu" type="button" aria-expanded="false" aria-controls="contents">Contents and search</button><div id="contents"></div></nav>
<div>${heading}
<div id="docs"><p class="note loading">Loading …</p></div></div>
</main>
<noscript><p>This page reads <a href="/openapi.json">/openapi.json</a> with JavaScript; the document itself says the same.</p></noscript>
</body>
</html>`;
}

/** The page that verifies results in a browser: its HTML, and the content security policy that lets it query any node. */
interface VerifierPage {
  readonly html: string;
  readonly policy: string;
}

/** Adds `/verifier.html`, open to everyone: the page talks only to the node its reader names. */
function verifierRoutes(
  router: Router,
  options: { readonly guard: (ctx: Context) => Promise<void>; readonly getPage: () => Promise<VerifierPage> },
): void {
  let stored: { readonly page: VerifierPage; readonly file: StoredFile } | undefined;
  router.get("/verifier.html", async (ctx) => {
    await options.guard(ctx);
    const page = await options.getPage();
    if (stored?.page !== page) stored = { page, file: storeFile("text/html; charset=utf-8", page.html) };
    // A shared result's page has it check the result in a frame.
    ctx.set("Content-Security-Policy", `${page.policy}; frame-ancestors 'self'`);
    ctx.set("X-Frame-Options", "SAMEORIGIN");
    ctx.set("Cache-Control", "no-cache");
    sendStored(ctx, stored.file);
  });
}

/**
 * Paths of the application's pages by first segment; `src/browser/application/routes.tsx` defines the pages
 * below them.
 */
const PAGES =
  /^\/(?:$|(?:sign-in|invitation|presets|random|functions|networks|dapps|people|sessions|audit|explorer|r)(?:\/|$))/;

/** The page of a shared result. */
const SHARED = /^\/r\/([^/]+)$/;

/** Whether the application has a page at a path, as far as its first segment tells. */
function isPagePath(path: string): boolean {
  return PAGES.test(path);
}

/**
 * Responds with the page in which the application runs: the same at every path, and for everyone, but for the preview of a link to a
 * shared result, which is made by programs that run no script.
 */
function sendShell(
  ctx: Context,
  { title = "Tyche", tags = "", summary = "" }: Partial<LinkPreview> = {},
): void {
  // An upgrade changes the build that the page names, and removes the files of the previous one.
  ctx.set("Cache-Control", "no-store");
  ctx.set("Content-Type", "text/html; charset=utf-8");
  // A path may contain something confidential: the id of a request.
  ctx.set("Referrer-Policy", "same-origin");
  ctx.body = `<!doctype html>
<html lang="en">
<head>
${headOf(title, getEntry("application"))}${tags}
</head>
<body>
<div id="application"></div>
<noscript>${summary}<p>These pages need JavaScript. Without it, the API and the command line do all that they do: <a href="/docs">/docs</a>.</p></noscript>
</body>
</html>`;
}

/** Returns the head of a page: its title, and what the browser loads for it. */
function headOf(title: string, { script, styles, preloads }: BundleEntry): string {
  // A page's own styles come last, so that they can override the shared ones.
  const links = [
    ...["/assets/style.css", ...styles].map((href) => `<link rel="stylesheet" href="${href}">`),
    ...preloads.map((href) => `<link rel="modulepreload" href="${href}">`),
  ];
  return `<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
${links.join("\n")}
<script type="module" src="${script}"></script>`;
}
