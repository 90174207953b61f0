/**
 * Builds the parts of the pages that need a framework: one entry per `{name}/main.tsx` or `main.ts` in this folder, with the editor in a
 * separate file that is loaded later. `npm run prepare`, `npm pack` and the tests run it; the service only reads its output.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

const FOLDER = import.meta.dirname;
const ROOT = path.resolve(FOLDER, "../..");
const TARGET = path.join(ROOT, ".build/browser");
/** Bundled sources outside this folder. */
const OTHER_SOURCES = [
  "src/client",
  "src/domain",
  "src/lib",
  "src/text",
  "sandbox/functions.d.ts",
  "package-lock.json",
];
const HASH_FILE = "inputs.sha256";

/** Returns the folder with the build; rebuilds it if a source changed: a few ms if it is up to date, some seconds if not. */
export async function buildBrowser(): Promise<string> {
  const hash = hashInputs();
  const known = path.join(TARGET, HASH_FILE);
  if (existsSync(known) && readFileSync(known, "utf8") === hash) return TARGET;
  // Built under another name first: a service that starts meanwhile sees either the old build or the new one, never a partial one.
  const draft = `${TARGET}.${process.pid}`;
  const { build } = await import("vite");
  await build({
    configFile: false,
    root: ROOT,
    // Fixed for every caller: under a test runner's NODE_ENV it would be React's development build.
    mode: "production",
    define: { "process.env.NODE_ENV": JSON.stringify("production") },
    base: "/assets/app/",
    logLevel: "warn",
    publicDir: false,
    oxc: { jsx: { runtime: "automatic", importSource: "react", development: false } },
    build: {
      outDir: draft,
      emptyOutDir: true,
      assetsDir: "",
      manifest: "manifest.json",
      target: "es2022",
      // A polyfill would be a second script on every page, and every target browser supports module preloading.
      modulePreload: { polyfill: false },
      // An inlined asset is a data URL, which the content security policy refuses for anything but images.
      assetsInlineLimit: 0,
      rollupOptions: {
        input: entriesIn(FOLDER),
        // "use client" at the top of a module only matters to server rendering, which isn't used here.
        onLog: (level, log, tell) => log.code !== "MODULE_LEVEL_DIRECTIVE" && tell(level, log),
      },
    },
  });
  writeFileSync(path.join(draft, HASH_FILE), hash);
  rmSync(TARGET, { recursive: true, force: true });
  mkdirSync(path.dirname(TARGET), { recursive: true });
  renameSync(draft, TARGET);
  return TARGET;
}

/** Finds `{name}/main.tsx`, or `main.ts`, by name. */
function entriesIn(folder: string): Record<string, string> {
  const mains = readdirSync(folder).flatMap((name) =>
    ["main.tsx", "main.ts"]
      .map((main) => path.join(folder, name, main))
      .filter((file) => existsSync(file))
      .map((file) => [name, file] as const),
  );
  return Object.fromEntries(mains);
}

function hashInputs(): string {
  const hash = createHash("sha256");
  for (const file of [FOLDER, ...OTHER_SOURCES.map((name) => path.join(ROOT, name))].flatMap(filesOf))
    hash
      .update(`${path.relative(ROOT, file)}\0`)
      .update(readFileSync(file))
      .update("\0");
  return hash.digest("hex");
}

function filesOf(file: string): string[] {
  if (path.extname(file) !== "") return [file];
  return readdirSync(file, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}

if (import.meta.main) await buildBrowser();
