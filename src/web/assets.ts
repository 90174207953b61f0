import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { Router } from "@koa/router";

const FOLDER = new URL("./static/", import.meta.url);
const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

/** Serves style sheet, scripts and icon under `/assets/`, each with its hash as ETag: browsers revalidate, and get 304. */
export function assetRoutes(router: Router): void {
  for (const name of readdirSync(FOLDER)) {
    const type = TYPES[name.slice(name.lastIndexOf(".") + 1)];
    if (type === undefined) continue;
    const content = readFileSync(new URL(name, FOLDER));
    const etag = `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
    router.get(`/assets/${name}`, (ctx) => {
      ctx.set("Cache-Control", "no-cache");
      ctx.set("Content-Type", type);
      ctx.set("ETag", etag);
      ctx.body = content;
      if (ctx.get("If-None-Match") === etag) ctx.status = 304;
    });
  }
}
