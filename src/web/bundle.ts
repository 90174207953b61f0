import { existsSync, readFileSync } from "node:fs";
import type { Router } from "@koa/router";
import { sendStored, storeFile, typeOfFile, type StoredFile } from "../lib/storedFile.ts";

/** URL path of the files; the build writes it into them. */
const PATH = "/assets/app/";
/** In the npm package, and in a checkout. */
const FOLDERS = [
  new URL("../../browser/", import.meta.url),
  new URL("../../.build/browser/", import.meta.url),
];

/** What a page loads to show one of the applications in `src/browser`. */
export interface BundleEntry {
  readonly script: string;
  readonly styles: readonly string[];
  /** Scripts that the script imports. */
  readonly preloads: readonly string[];
}

/** One record of Vite's manifest. */
interface Chunk {
  readonly file: string;
  readonly name?: string;
  readonly isEntry?: boolean;
  readonly css?: readonly string[];
  /** Keys of other records. */
  readonly imports?: readonly string[];
}

let bundle: ReturnType<typeof readBundle> | undefined;

/** Returns the script and the style sheets of `src/browser/{name}`. Throws if the build is missing. */
export function getEntry(name: string): BundleEntry {
  bundle ??= readBundle();
  const entry = bundle.chunks.find((chunk) => chunk.isEntry === true && chunk.name === name);
  if (entry === undefined) throw new Error(`the build has no entry ${name}: run "npm run prepare"`);
  const imported = (entry.imports ?? []).map((key) => bundle!.byKey[key]!);
  return {
    script: PATH + entry.file,
    styles: [entry, ...imported].flatMap(({ css = [] }) => css).map((file) => PATH + file),
    preloads: imported.map(({ file }) => PATH + file),
  };
}

/**
 * Serves the build's output. A file's name contains the hash of its content, so browsers keep it forever; only names that the build
 * lists are served.
 */
export function bundleRoutes(router: Router): void {
  router.get(`${PATH}:name`, async (ctx, next) => {
    bundle ??= readBundle();
    const file = bundle.read(ctx.params["name"] ?? "");
    if (file === undefined) return next();
    ctx.set("Cache-Control", "public, max-age=31536000, immutable");
    return sendStored(ctx, file);
  });
}

function readBundle() {
  const folder = FOLDERS.find((one) => existsSync(new URL("manifest.json", one)));
  if (folder === undefined) throw new Error('the pages are not built: run "npm run prepare"');
  const manifest = readFileSync(new URL("manifest.json", folder), "utf8");
  const byKey = JSON.parse(manifest) as Readonly<Record<string, Chunk>>;
  const chunks = Object.values(byKey);
  const names = new Set(chunks.flatMap(({ file, css = [] }) => [file, ...css]));
  const files = new Map<string, StoredFile>();
  return {
    byKey,
    chunks,
    read(name: string) {
      const type = typeOfFile(name);
      if (!names.has(name) || type === undefined) return undefined;
      let file = files.get(name);
      if (file === undefined) {
        file = storeFile(type, readFileSync(new URL(name, folder)));
        files.set(name, file);
      }
      return file;
    },
  };
}
