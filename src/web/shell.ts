import type { Context } from "koa";
import { getEntry, type BundleEntry } from "./bundle.ts";

/**
 * Paths of the application's pages by first segment; `src/browser/application/routes.tsx` defines the pages
 * below them.
 */
const PAGES = /^\/(?:$|(?:sign-in|presets|random|functions|networks|dapps|explorer|r)(?:\/|$))/;

/** Whether the application has a page at a path, as far as its first segment tells. */
export function isPagePath(path: string): boolean {
  return PAGES.test(path);
}

/** Responds with the page in which the application runs: the same at every path, and for everyone. */
export function sendShell(ctx: Context): void {
  // An upgrade changes the build that the page names, and removes the files of the previous one.
  ctx.set("Cache-Control", "no-store");
  ctx.set("Content-Type", "text/html; charset=utf-8");
  // A path may contain something confidential: the id of a request.
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

/** Returns the head of a page: its title, and what the browser loads for it. */
export function headOf(title: string, { script, styles, preloads }: BundleEntry): string {
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
