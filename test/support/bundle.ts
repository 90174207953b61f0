import { readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";

const ROOT = path.resolve(import.meta.dirname, "../..");

/** Modules keep their own place, beside which some look for files. */
const ownPlaces: Plugin = {
  name: "own places",
  setup(builder) {
    builder.onLoad({ filter: /\.tsx?$/ }, ({ path: file }) => ({
      contents: readFileSync(file, "utf8")
        .replaceAll("import.meta.dirname", JSON.stringify(path.dirname(file)))
        .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(file).href)),
      loader: file.endsWith("x") ? "tsx" : "ts",
    }));
  },
};

/**
 * Bundles a module with everything that it imports, for processes that are started by the dozen: what takes 0.6 s of processor
 * time in eight hundred files takes 0.15 s in some twenty.
 *
 * @param entry from the root, such as `src/app/tyche.ts`.
 * @returns the bundled module, in a folder of its own under `node_modules/.cache`, where it finds the native packages.
 */
export async function bundle(entry: string): Promise<string> {
  const name = path.basename(entry, ".ts");
  const outdir = path.join(ROOT, `node_modules/.cache/${name}-${process.pid}`);
  await build({
    entryPoints: [path.join(ROOT, entry)],
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    plugins: [ownPlaces],
    external: ["@foundry-rs/anvil", "esbuild", "isolated-vm", "pino", "secp256k1", "undici"],
    // CommonJS packages find it in every module.
    banner: {
      js: `import { createRequire as requireFrom } from "node:module";
const require = requireFrom(import.meta.url);`,
    },
  });
  return path.join(outdir, `${name}.mjs`);
}
