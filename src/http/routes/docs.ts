import { readFileSync } from "node:fs";
import type { Router } from "@koa/router";
import type { RequestState } from "../context.ts";

/** The page's files, all of our own: nothing is loaded from elsewhere, and nothing inline that the security policy would refuse. */
const FILES = [
  { path: "/docs", file: "index.html", type: "text/html; charset=utf-8" },
  { path: "/docs/docs.css", file: "docs.css", type: "text/css; charset=utf-8" },
  { path: "/docs/docs.js", file: "docs.js", type: "text/javascript; charset=utf-8" },
] as const;

/** Adds `/docs`: a page to read the API and to try it, made in the browser out of `/openapi.json`. */
export function docsRoutes(router: Router<RequestState>): void {
  for (const { path, file, type } of FILES) {
    const content = readFileSync(new URL(`../docs/${file}`, import.meta.url), "utf8");
    router.get(path, (ctx) => {
      ctx.set("Cache-Control", "no-cache");
      ctx.set("Content-Type", type);
      ctx.body = content;
    });
  }
}
