import { readdirSync, readFileSync } from "node:fs";
import type { Router } from "@koa/router";
import { sendStored, storeFile } from "../lib/storedFile.ts";

const FOLDER = new URL("./static/", import.meta.url);
const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

/** Serves style sheet, scripts and icon under `/assets/`, which browsers revalidate. */
export function assetRoutes(router: Router): void {
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
