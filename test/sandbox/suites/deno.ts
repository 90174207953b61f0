/**
 * Counts Deno's own unit tests that pass in Deno and in the sandbox:
 *   npm run test:deno -- <checkout of denoland/deno> [--show] [file …]
 * Nothing of the suite is part of this repository. `@std` is a submodule of that checkout; denoAssert.js stands in for it.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

import { compareSuites, type SuiteFile } from "./both.ts";

/** The files of each row; the others need files, processes, sockets or flags, which a source has none of. */
const ROWS: Readonly<Record<string, readonly string[]>> = {
  "tests/unit":
    "abort_controller blob body console custom_event dom_exception event event_target file filereader get_random_values globals headers intl message_channel performance progressevent request response streams structured_clone symbol text_encoding timers url url_search_params urlpattern wasm webcrypto".split(
      " ",
    ),
  "tests/unit_node":
    "assert assertion_error async_hooks buffer console events path perf_hooks punycode querystring stream string_decoder timers url util zlib".split(
      " ",
    ),
  "tests/unit_node/crypto":
    "crypto_cipher_gcm crypto_cipher crypto_hash crypto_hkdf crypto_key crypto_misc crypto_pbkdf2 crypto_scrypt crypto_sign crypto_timing_safe_equal".split(
      " ",
    ),
  "tests/unit_node/internal": ["_randomBytes", "_randomFill", "_randomInt"],
};
/** One test's time, in ms. */
const TEST_MS = 3_000;

const [root, ...words] = process.argv.slice(2).filter((word) => word !== "--show");
if (root === undefined || !existsSync(join(root, "tests", "unit_node")))
  throw new Error("Name a checkout of denoland/deno, as in: npm run test:deno -- ../deno");

const STAND_IN = fileURLToPath(new URL("denoAssert.js", import.meta.url));

/** Bundles a test file: `Deno.test` and the modules of Node are the source's own. */
async function readTest(folder: string, file: string): Promise<SuiteFile> {
  const used = new Set<string>();
  const built = await build({
    entryPoints: [join(root as string, folder, file)],
    bundle: true,
    write: false,
    format: "esm",
    platform: "neutral",
    target: "es2024",
    logLevel: "silent",
    define: { "Deno.test": "denoTest" },
    loader: { ".json": "json" },
    plugins: [
      {
        name: "suite",
        setup(plugin) {
          plugin.onResolve({ filter: /^node:/ }, ({ path }) => {
            used.add(path);
            return { path, namespace: "node" };
          });
          plugin.onLoad({ filter: /./, namespace: "node" }, ({ path }) => ({
            contents: `module.exports = modules["${path}"] ?? {};`,
          }));
          // As CommonJS, so that a name which the stand-in lacks fails only the tests that use it.
          plugin.onResolve({ filter: /^@std\/|test_utils?\.ts$/ }, () => ({ path: "std", namespace: "std" }));
          plugin.onLoad({ filter: /./, namespace: "std" }, () => ({
            contents: `module.exports = { ...require(${JSON.stringify(STAND_IN)}) };`,
            resolveDir: "/",
          }));
        },
      },
    ],
  });
  return {
    name: `${folder}/${file}`,
    row: folder,
    source: `
const modules = {};
for (const name of ${JSON.stringify([...used])}) {
  try { modules[name] = Object.defineProperty({ ...(await import(name)) }, '__esModule', { value: true }); } catch {}
}
// What only Deno's own code reaches; tests of it fail, the others of their file run.
Deno[Deno.internal] ??= { core: {}, Console: class {}, inspectArgs: (values, options) => values.map((value) => (typeof value === 'string' ? value : Deno.inspect(value, options))).join(' ') };
const tests = [];
const denoTest = (first, second, third) => {
  const options = typeof first === 'object' ? first : typeof first === 'string' ? { name: first } : {};
  const work = [third, second, first].find((item) => typeof item === 'function') ?? options.fn;
  const settings = typeof second === 'object' ? { ...options, ...second } : options;
  if (!settings.ignore && typeof work === 'function') tests.push([settings.name ?? work.name, work]);
};
denoTest.ignore = denoTest.beforeAll = denoTest.afterAll = denoTest.beforeEach = denoTest.afterEach = () => {};
denoTest.only = denoTest;
${built.outputFiles[0]?.text ?? ""}
const context = (parts) => ({ name: '', step: async (a, b) => {
  const work = typeof a === 'function' ? a : b ?? a.fn;
  if (!(typeof a === 'object' && a.ignore)) await work(context());
  return true;
} });
for (const [name, work] of tests) {
  let timer;
  try {
    await Promise.race([(async () => work(context()))(), new Promise((_, reject) => { timer = setTimeout(reject, ${TEST_MS}, new Error('takes too long')); })]);
    report(name, '');
  } catch (error) { report(name, String(error?.message ?? error) || 'failed'); }
  clearTimeout(timer);
}`,
    args: [],
  };
}

const files: SuiteFile[] = [];
for (const [folder, names] of Object.entries(ROWS)) {
  for (const file of readdirSync(join(root, folder)).sort()) {
    if (!names.includes(file.replace(/_test\.ts$/, ""))) continue;
    if (words.length === 0 || words.some((word) => `${folder}/${file}`.includes(word)))
      files.push(await readTest(folder, file));
  }
}
await compareSuites(files, { show: process.argv.includes("--show") });
