/**
 * Counts the subtests of web-platform-tests that pass in Deno and in the sandbox:
 *   npm run test:wpt -- <checkout of web-platform-tests> [--show] [path or row …]
 * Nothing of the suite is part of this repository. Runs what needs no server: `*.any.js`, with the files of the checkout that a test names.
 */
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

import { compareSuites, type SuiteFile } from "./both.ts";

/** Rows of the table: folders or files of the suite. */
const ROWS: Readonly<Record<string, readonly string[]>> = {
  encoding: ["encoding"],
  fetch: [
    "fetch/api/headers",
    "fetch/api/request",
    "fetch/api/response",
    "fetch/api/body",
    "fetch/api/abort",
  ],
  files: ["xhr/formdata", "FileAPI"],
  events: ["dom/abort", "dom/events"],
  url: ["url"],
  platform: ["compression", "user-timing", "hr-time", "console", "urlpattern"],
  webidl: ["webidl/ecmascript-binding"],
  html: [
    "html/webappapis/structured-clone",
    "html/webappapis/timers",
    "html/webappapis/atob",
    "html/webappapis/microtask-queuing",
  ],
  streams: ["streams"],
  crypto: ["WebCryptoAPI"],
};

/** Runs `args[0]`, the script, after `args[1]`, testharness.js, with the files `args[3]` within reach of `fetch`. */
const SOURCE = `
const [script, harness, address, files] = args;
const texts = JSON.parse(files);
const isNot = () => false;
globalThis.GLOBAL = { isWindow: isNot, isWorker: isNot, isShadowRealm: isNot };
Object.defineProperty(globalThis, 'location', { value: new URL(address), configurable: true, writable: true });
const { fetch: realFetch, URL: RealUrl, Response: RealResponse } = globalThis;
globalThis.fetch = (target, init) => {
  let path;
  try { path = new RealUrl(String(target), address).pathname; } catch { return realFetch(target, init); }
  return Object.hasOwn(texts, path) ? Promise.resolve(new RealResponse(texts[path])) : realFetch(target, init);
};
const evaluate = eval;
evaluate(harness);
setup({ explicit_timeout: true });
await new Promise((resolve) => {
  add_result_callback((test) => report(String(test.name), test.status === 0 ? '' : String(test.message ?? 'not run')));
  add_completion_callback(resolve);
  setTimeout(resolve, 30000);
  try { evaluate(script); } catch (error) { report('the file runs', String(error)); resolve(); }
});`;

const [root, ...words] = process.argv.slice(2).filter((word) => word !== "--show");
if (root === undefined || !existsSync(join(root, "resources", "testharness.js")))
  throw new Error("Name a checkout of web-platform-tests, as in: npm run test:wpt -- ../wpt");
const harness = readFileSync(join(root, "resources", "testharness.js"), "utf8");

function listFiles(path: string): string[] {
  const full = join(root as string, path);
  if (!existsSync(full)) return [];
  if (!statSync(full).isDirectory()) return path.endsWith(".any.js") ? [path] : [];
  return readdirSync(full)
    .sort()
    .flatMap((name) => listFiles(`${path}/${name}`));
}

function readScript(path: string, from: string): string {
  const full = join(root as string, path.startsWith("/") ? path : join(dirname(from), path));
  return existsSync(full) ? readFileSync(full, "utf8") : "";
}

/** Returns the checkout's files that a script's string literals name, by their absolute path. */
function namedFiles(script: string, from: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const [, name = ""] of script.matchAll(/["'`]([\w./-]+\.(?:json|txt|html|sub\.js|png))["'`]/g)) {
    const path = name.startsWith("/") ? name : join("/", dirname(from), name);
    const full = join(root as string, path);
    if (existsSync(full) && statSync(full).size < 2_000_000) files[path] = readFileSync(full, "utf8");
  }
  return files;
}

/** Reads a test with the scripts that its `META` lines name; one file for each variant. */
function readTest(path: string, row: string): SuiteFile[] {
  const text = readFileSync(join(root as string, path), "utf8");
  const metas = [...text.matchAll(/^\/\/ META: (\w+)=(.*)$/gm)].map(([, key, value = ""]) => [
    key,
    value.trim(),
  ]);
  const valuesOf = (key: string) =>
    metas.filter(([name]) => name === key).map(([, value]) => value as string);
  const script = [...valuesOf("script").map((name) => readScript(name, path)), text].join("\n;\n");
  const files = JSON.stringify(namedFiles(script, path));
  const variants = valuesOf("variant");
  return (variants.length === 0 ? [""] : variants).map((variant) => ({
    name: path + variant,
    row,
    source: SOURCE,
    args: [script, harness, `https://web-platform.test/${path}${variant}`, files],
  }));
}

const files = Object.entries(ROWS).flatMap(([row, paths]) =>
  paths.flatMap((path) =>
    listFiles(path)
      .filter(
        (file) => words.length === 0 || words.includes(row) || words.some((word) => file.startsWith(word)),
      )
      .flatMap((file) => readTest(file, row)),
  ),
);
await compareSuites(files, { show: process.argv.includes("--show") });
