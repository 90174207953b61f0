import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { PROGRAMS } from "./programs.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
/** Folder of the bundles of these sources and of earlier ones. */
export const BUNDLES = path.join(ROOT, "node_modules/.cache/bundles");

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

/** An import of `node:http` reads all that it exports, its `WebSocket` too, and so loads Node's undici: 60 ms of processor time. */
const withoutUndici: Plugin = {
  name: "without undici",
  setup(builder) {
    builder.onResolve({ filter: /^(?:node:)?http$/ }, ({ kind }) =>
      kind === "import-statement" ? { path: "node:http", namespace: "built-in" } : undefined,
    );
    builder.onLoad({ filter: /^/, namespace: "built-in" }, ({ path: name }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(name)});`,
    }));
  },
};

/** Where the bundle of the sources as they are is recorded. */
const RECORD = path.join(BUNDLES, "programs.json");

/**
 * Bundles {@link PROGRAMS} with everything that they import: what takes 0.6 s of processor time in eight hundred files takes 0.15 s in some
 * twenty. Bundling itself takes 2 s, so it happens only if an input has changed.
 *
 * @returns the folder of the bundled modules, under `node_modules/.cache`, where they find the native packages. It is named after its
 * content, so that the next run finds the code that V8 compiled.
 */
export async function bundlePrograms(): Promise<string> {
  const known = findUnchanged();
  if (known !== undefined) {
    for (const file of [RECORD, known]) utimesSync(file, new Date(), new Date());
    return known;
  }
  const startedMs = Date.now();
  const { outputFiles, metafile } = await build({
    entryPoints: Object.entries(PROGRAMS).map(([out, file]) => ({ in: path.join(ROOT, file), out })),
    absWorkingDir: ROOT,
    outdir: ROOT,
    write: false,
    metafile: true,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    plugins: [ownPlaces, withoutUndici],
    external: ["@foundry-rs/anvil", "esbuild", "isolated-vm", "pino", "secp256k1", "undici"],
    // CommonJS packages find it in every module.
    banner: {
      js: `import { createRequire as requireFrom } from "node:module";
const require = requireFrom(import.meta.url);`,
    },
  });
  const hash = createHash("sha256");
  for (const file of outputFiles) hash.update(file.contents);
  const folder = path.join(BUNDLES, `programs-${hash.digest("hex").slice(0, 16)}`);
  const draft = `${folder}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  for (const file of outputFiles) writeFileSync(path.join(draft, path.basename(file.path)), file.contents);
  try {
    renameSync(draft, folder);
  } catch {
    // The same bundle exists; a new date keeps it from being removed as old.
    rmSync(draft, { recursive: true });
    utimesSync(folder, new Date(), new Date());
  }
  const inputs = [...Object.keys(metafile.inputs).filter((input) => !input.includes(":")), ...OTHER_INPUTS];
  // An input that was edited during the build may have been read before.
  if (inputs.every((input) => (statsOf(input)?.mtimeMs ?? 0) < startedMs)) {
    const built: Built = { folder, inputs: inputs.map((input) => [input, stateOf(input)]) };
    writeFileSync(`${RECORD}.${process.pid}`, JSON.stringify(built));
    renameSync(`${RECORD}.${process.pid}`, RECORD);
  }
  return folder;
}

/** A bundle, and the state of each of its inputs (paths from the root) when it was built. */
interface Built {
  readonly folder: string;
  readonly inputs: readonly (readonly [input: string, state: string])[];
}

/** How programs are bundled, and which packages are installed: npm gives the files of every version the same date. */
const OTHER_INPUTS = [
  "test/support/bundle.ts",
  "test/support/programs.ts",
  "tsconfig.json",
  "node_modules/.package-lock.json",
];

/** Returns the folder of a bundle of this checkout whose inputs are as they were. */
function findUnchanged(): string | undefined {
  if (!existsSync(RECORD)) return undefined;
  const { folder, inputs } = JSON.parse(readFileSync(RECORD, "utf8")) as Built;
  const isHere = path.dirname(folder) === BUNDLES && existsSync(folder);
  return isHere && inputs.every(([input, state]) => stateOf(input) === state) ? folder : undefined;
}

function stateOf(input: string): string {
  const stats = statsOf(input);
  return `${stats?.mtimeMs} ${stats?.size}`;
}

const statsOf = (input: string) => statSync(path.join(ROOT, input), { throwIfNoEntry: false });
