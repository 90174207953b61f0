/**
 * Writes modules into `dist` that let programs in a checkout import `tyche/client` and the package's other entry points by name. Each
 * re-exports its source, which Node runs directly from version 24 on; the client is compiled, for the programs of older ones. npm's
 * `prepare` runs it; `npm pack` replaces these modules with the compiled code, and restores them when it is done.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { buildSync, type BuildOptions } from "esbuild";

const ROOT = path.resolve(import.meta.dirname, "..");
const DIST = path.join(ROOT, "dist");

/** How the client is compiled, for Node 20.3 and later: the first with `AbortSignal.any`. */
const CLIENT = {
  absWorkingDir: ROOT,
  entryPoints: ["src/client/index.ts"],
  outdir: "./dist/src/client",
  bundle: true,
  // What encrypts secrets is as large as all the rest, and is loaded when it is needed.
  splitting: true,
  format: "esm",
  target: "node20.3",
} as const satisfies BuildOptions;

/** Writes one module or declaration file. `target` is its path in the package, `./dist/…`. */
function writeEntryPoint(target: string): void {
  const file = path.join(ROOT, target);
  const name = path.relative(DIST, file);
  const isAmbient = name === "sandbox/functions.d.ts";
  const source = path.join(ROOT, isAmbient ? name : name.replace(/(\.d\.ts|\.js)$/, ".ts"));
  const specifier = path.relative(path.dirname(file), source).replaceAll(path.sep, "/");
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(
    file,
    isAmbient ? `/// <reference path="${specifier}" />\n` : `export * from "${specifier}";\n`,
  );
}

/** npm also runs `prepare` between `prepack` and the packing itself. */
const isPacking =
  process.env["npm_lifecycle_event"] === "prepare" &&
  /^(pack|publish)$/.test(process.env["npm_command"] ?? "");

if (!isPacking) {
  const { exports } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as {
    exports: Record<string, string | { types: string; default?: string }>;
  };
  rmSync(DIST, { recursive: true, force: true });
  for (const entry of Object.values(exports)) {
    if (typeof entry === "string") continue;
    writeEntryPoint(entry.types);
    if (entry.default === `${CLIENT.outdir}/index.js`) buildSync(CLIENT);
    else if (entry.default !== undefined) writeEntryPoint(entry.default);
  }
}
