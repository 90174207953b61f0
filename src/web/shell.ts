import type { Context } from "koa";
import { getEntry, type BundleEntry } from "./bundle.ts";

/** Paths of the application's pages; `src/browser/application/routes.tsx` says which there are below them. */
const PAGES = /^\/(?:$|(?:sign-in|presets|random|functions|networks|dapps|explorer|r)(?:\/|$))/;

/** Whether the application has a page there, as far as the first part of a path tells. */
export function isPagePath(path: string): boolean {
  return PAGES.test(path);
}

/** Answers with the page into which the application draws itself: the same at every path, and for everybody. */
export function sendShell(ctx: Context): void {
  // Which build it names changes with an upgrade, and the files of the one before are gone then.
  ctx.set("Cache-Control", "no-store");
  ctx.set("Content-Type", "text/html; charset=utf-8");
  // A path may hold what somebody else should not learn of: the id of a request.
  ctx.set("Referrer-Policy", "same-origin");
  ctx.body = `<!doctype html>
<html lang="en">
<head>
${headOf("Tyche", getEntry("application"))}
</head>
<body>
<div id="application"></div>
<noscript><p>These pages need JavaScript. Without it, the API and the command line do all that they do: <a href="/docs">/docs</a>.</p></noscript>
</body>
</html>`;
}

/** What stands in the head of each page: its title, and what the browser loads for it. */
export function headOf(title: string, { script, styles, preloads }: BundleEntry): string {
  // A page's own styles come last: they may say otherwise than the shared ones.
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
