import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";

const ROOT = path.resolve(import.meta.dirname, "../..");

/** Modules keep their own place, beside which some look for files. */
const ownPlaces: Plugin = {
  name: "own places",
  setup(builder) {
    builder.onLoad({ filter: /\.ts$/ }, ({ path: file }) => ({
      contents: readFileSync(file, "utf8")
        .replaceAll("import.meta.dirname", JSON.stringify(path.dirname(file)))
        .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(file).href)),
      loader: "ts",
    }));
  },
};

/**
 * Bundles crashEntry.ts with everything that it imports, and returns the file and what removes it: some thirty processes of a test load it,
 * and one file takes 0.25 s of processor time where four hundred take 0.6.
 */
export async function bundleEntry(): Promise<{ readonly file: string; readonly remove: () => void }> {
  // Below the root, where it finds the native packages.
  const file = path.join(ROOT, `node_modules/.cache/crash-${process.pid}.mjs`);
  await build({
    entryPoints: [path.join(import.meta.dirname, "crashEntry.ts")],
    outfile: file,
    bundle: true,
    platform: "node",
    format: "esm",
    plugins: [ownPlaces],
    external: ["@foundry-rs/anvil", "esbuild", "isolated-vm", "secp256k1"],
    // CommonJS packages find it in every module.
    banner: {
      js: `import { createRequire as requireFrom } from "node:module";
const require = requireFrom(import.meta.url);`,
    },
  });
  return { file, remove: () => rmSync(file) };
}
