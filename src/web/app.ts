import { readdirSync, readFileSync } from "node:fs";
import { Router } from "@koa/router";
import type { Context, Middleware } from "koa";
import type { Explorer, PageSubject } from "../explorer/explorer.ts";
import { withDeadline } from "../lib/deadline.ts";
import { NotFoundError } from "../lib/errors.ts";
import { element, type Markup } from "../lib/markup.ts";
import { describePage } from "../text/sharedResult.ts";
import { findPage, type PagePlace } from "../domain/pagePaths.ts";
import { sendStored, storeFile, typeOfFile, type StoredFile } from "../lib/storedFile.ts";
import type { Service } from "../requests/service.ts";
import { bundleRoutes } from "./bundle.ts";
import { docsRoutes } from "./docsRoutes.ts";
import { topOf, writeDocument } from "./document.ts";
import { createLinkPreview } from "./linkPreview.ts";
import { createResultPage } from "./resultPage.ts";
import { resultPictureRoutes } from "./resultPicture.ts";
import { sessionRoutes, type SessionRoutesOptions } from "./sessionRoutes.ts";

/** Dependencies of {@link createWebApp}. */
export interface WebDeps extends SessionRoutesOptions {
  /** The page that verifies results in a browser. */
  readonly getVerifierPage: () => Promise<VerifierPage>;
  readonly service: Pick<Service, "getShared" | "findNetwork">;
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
  resultPictureRoutes(router, options);
  sessionRoutes(router, options);
  const routes = router.routes() as unknown as Middleware;

  return async (ctx, next) => {
    if (ctx.path.startsWith("/api/")) return next();
    if (!wantsPage(ctx)) return routes(ctx, next);
    const place = findPage(ctx.path);
    if (place !== undefined) {
      await guard(ctx);
      if (place.page === "/r/:id")
        sendShell(ctx, await describeResult(ctx, place.params["id"]!, options.service));
      else if (await lacksSubject(place, options.explorer)) sendMissing(ctx);
      else sendShell(ctx, { content: withoutScript(ctx) });
      return undefined;
    }
    return routes(ctx, async () => {
      // For an unknown path, a caller that didn't ask for a page is better served by the API's envelope.
      if (ctx.accepts("json", "html") !== "html") return next();
      await guard(ctx);
      sendMissing(ctx);
    });
  };
}

/** Returns the page of a result as it is without a script. */
async function describeResult(ctx: Context, id: string, service: WebDeps["service"]): Promise<PlainPage> {
  let shared;
  try {
    shared = await service.getShared(id);
  } catch (error) {
    if (error instanceof NotFoundError) {
      ctx.status = 404;
      const lead = `There is no result ${id}. Compare the address with the one that you were given.`;
      return { title: "Not found", content: plainContent("Not found", lead) };
    }
    return { content: plainContent("Result", "It can't be read now. Reload this page in a while.") };
  }
  const known = shared.network === undefined ? undefined : service.findNetwork(shared.network);
  return {
    title: describePage(shared).title,
    tags: createLinkPreview(shared, known),
    content: createResultPage(shared, known),
  };
}

/** What can't be looked up so soon is taken to exist: the page says itself what it finds. */
const LOOK_UP_MS = 2_000;

/** Returns what a page of the explorer is about, besides its network. */
function subjectOf({ params: { hash, number, address } }: PagePlace): PageSubject | undefined {
  if (hash !== undefined) return { kind: "tx", id: hash };
  if (number !== undefined) return { kind: "block", id: number };
  return address === undefined ? undefined : { kind: "address", id: address };
}

/** Whether a page is of the explorer, about something that doesn't exist. */
async function lacksSubject(place: PagePlace, explorer: WebDeps["explorer"]): Promise<boolean> {
  const { network } = place.params;
  if (network === undefined) return false;
  return await withDeadline(explorer.lacks(network, subjectOf(place)), LOOK_UP_MS).catch(() => false);
}

function wantsPage(ctx: Context): boolean {
  return (ctx.method === "GET" || ctx.method === "HEAD") && ctx.accepts("html", "json") === "html";
}

const FOLDER = new URL("./static/", import.meta.url);

/** Serves style sheet, scripts and icon under `/assets/`, which browsers revalidate. */
function assetRoutes(router: Router): void {
  for (const name of readdirSync(FOLDER)) {
    const type = typeOfFile(name);
    if (type === undefined) continue;
    const file = storeFile(type, readFileSync(new URL(name, FOLDER)));
    router.get(`/assets/${name}`, (ctx) => {
      ctx.set("Cache-Control", "no-cache");
      sendStored(ctx, file);
    });
  }
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
 * Responds with the page in which the application runs: the same for everyone. Whoever runs no script, such as a program that previews
 * links, finds on the page of a shared result what it says, and elsewhere where the same is to be had.
 */
function sendShell(ctx: Context, { title, tags, content }: PlainPage): void {
  // An upgrade changes the build that the page names, and removes the files of the previous one.
  ctx.set("Cache-Control", "no-store");
  ctx.set("Content-Type", "text/html; charset=utf-8");
  // A path may contain something confidential: the id of a request.
  ctx.set("Referrer-Policy", "same-origin");
  const plain = [topOf({ own: false }), element("main", { id: "main" }, content)];
  ctx.body = writeDocument({
    title: title === undefined ? "Tyche" : `${title} · Tyche`,
    tags,
    entry: "application",
    body: [element("div", { id: "application" }), element("noscript", {}, plain)],
  });
}

/** What a page is without a script. */
interface PlainPage {
  /** The page's own. */
  readonly title?: string;
  /** More of its head. */
  readonly tags?: Markup;
  /** All below its top. */
  readonly content: Markup;
}

/** Responds with the page for what doesn't exist. */
function sendMissing(ctx: Context): void {
  sendShell(ctx, {
    content: plainContent("Not found", "There is no such page, or nothing that it would show."),
  });
  ctx.status = 404;
}

/** Returns the API's path for what a page of the explorer shows. */
function apiPathOf({ path, search }: Context): string {
  if (/^\/explorer\/(?:requests|search)\/?$/.test(path)) return `/api${path}${search}`;
  return path
    .replace(/^\/explorer/, "/api/explorer/networks")
    .replace("/block/", "/blocks/")
    .replace("/tx/", "/transactions/")
    .replace("/address/", "/addresses/");
}

/** Says that a page needs JavaScript, and where the same is to be had without it. */
function withoutScript(ctx: Context): Markup {
  const link = (href: string, text: string): Markup => element("a", { href }, text);
  return [
    plainContent(
      "This page needs JavaScript",
      "Tyche makes verifiable random numbers and runs oracle functions over HTTP, and puts every result on chain. Without JavaScript, ",
      link("/docs/api", "the API and the command line"),
      " do all that these pages do",
      ...(ctx.path.startsWith("/explorer")
        ? ["; ", link(apiPathOf(ctx), "what this one shows, as JSON")]
        : []),
      ".",
    ),
    element(
      "p",
      {},
      "The page of a result, /r/ and its id, and ",
      link("/docs/README", "the guides"),
      " can be read as they are.",
    ),
  ];
}

function plainContent(heading: string, ...lead: readonly Markup[]): Markup {
  return [element("h1", {}, heading), element("p", { class: "lead" }, ...lead)];
}
