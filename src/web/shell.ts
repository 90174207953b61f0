import type { Context } from "koa";
import { getEntry } from "./bundle.ts";

/** Paths of the application's pages; `src/browser/application/routes.tsx` says which there are below them. */
const PAGES = /^\/(?:$|(?:sign-in|presets|random|functions|networks|dapps|explorer|r)(?:\/|$))/;

/** Whether the application has a page there, as far as the first part of a path tells. */
export function isPagePath(path: string): boolean {
  return PAGES.test(path);
}

/** Answers with the page into which the application draws itself: the same at every path, and for everybody. */
export function sendShell(ctx: Context): void {
  const { script, styles, preloads } = getEntry("application");
  const links = [
    ...["/assets/style.css", ...styles].map((href) => `<link rel="stylesheet" href="${href}">`),
    ...preloads.map((href) => `<link rel="modulepreload" href="${href}">`),
  ];
  // Which build it names changes with an upgrade, and the files of the one before are gone then.
  ctx.set("Cache-Control", "no-store");
  ctx.set("Content-Type", "text/html; charset=utf-8");
  // A path may hold what somebody else should not learn of: the id of a request.
  ctx.set("Referrer-Policy", "same-origin");
  ctx.body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Tyche</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
${links.join("\n")}
<script type="module" src="${script}"></script>
</head>
<body>
<div id="application"></div>
<noscript><p>These pages need JavaScript. Without it, the API and the command line do all that they do: <a href="/docs">/docs</a>.</p></noscript>
</body>
</html>`;
}
