import { isBuiltin } from "node:module";
import type { Manifest, NpmPackage } from "./npmRegistry.ts";
import { isRecord, IMPORT_CONDITIONS, REQUIRE_CONDITIONS, resolveExports } from "./packageExports.ts";

/** How a module is requested; the names are esbuild's. */
export type ImportKind = "import-statement" | "dynamic-import" | "require-call" | "require-resolve";

/**
 * Finds the file of a package that a subpath means.
 *
 * @param subpath `.`, `./x` (through `exports` if there are any), `#x` (through `imports`) or `file:x` (that exact
 * file).
 * @param isInner The subpath is a path inside the package, from one of its own files: `exports` don't apply.
 * @returns A key of `npm.files`, `node:name` if `imports` lead to a built-in module, or `null`.
 */
export function packageFile(
  npm: NpmPackage,
  subpath: string,
  kind: ImportKind,
  isInner = false,
): string | null {
  if (subpath.startsWith("file:")) return npm.files.has(subpath.slice(5)) ? subpath.slice(5) : null;
  const isRequire = kind === "require-call" || kind === "require-resolve";
  const conditions = isRequire ? REQUIRE_CONDITIONS : IMPORT_CONDITIONS;
  if (subpath.startsWith("#")) {
    const target = resolveExports(npm.manifest["imports"], subpath, conditions);
    if (target === null) return null;
    if (isBuiltin(target)) return `node:${target.replace(/^node:/, "")}`;
    return target.startsWith("./") ? existing(npm, target) : null;
  }
  if (!isInner && npm.manifest["exports"] !== undefined && npm.manifest["exports"] !== null) {
    const target = resolveExports(npm.manifest["exports"], subpath, conditions);
    return target === null ? null : existing(npm, target);
  }
  if (subpath === "." || subpath === "./") return mainFile(npm, "");
  const exact = existing(npm, subpath);
  if (exact !== null || !isRequire) return exact;
  return searched(npm, normalize(subpath));
}

/** Looks for `main` and `index` as `require` does; Deno and Node do so for `import` of a package too. */
function mainFile(npm: NpmPackage, folder: string): string | null {
  const manifest = folder === "" ? npm.manifest : parseManifest(npm.files.get(`${folder}/package.json`));
  const { main } = manifest;
  const named = typeof main === "string" ? normalize(join(folder, main)) : null;
  const found = named === null ? null : npm.files.has(named) ? named : searched(npm, named, named !== folder);
  return found ?? firstExisting(npm, join(folder, "index"));
}

function searched(npm: NpmPackage, path: string, intoFolders = true): string | null {
  return firstExisting(npm, path) ?? (intoFolders ? mainFileOfFolder(npm, path) : null);
}

function mainFileOfFolder(npm: NpmPackage, folder: string): string | null {
  return folder === ""
    ? null
    : npm.files.has(`${folder}/package.json`)
      ? mainFile(npm, folder)
      : firstExisting(npm, `${folder}/index`);
}

function firstExisting(npm: NpmPackage, path: string): string | null {
  return (
    [".js", ".json", ".cjs", ".mjs"]
      .map((extension) => path + extension)
      .find((file) => npm.files.has(file)) ?? null
  );
}

function existing(npm: NpmPackage, path: string): string | null {
  const file = normalize(path);
  return npm.files.has(file) ? file : null;
}

function join(folder: string, path: string): string {
  return folder === "" ? path : `${folder}/${path}`;
}

/** Resolves `.` and `..`; a path that would leave the package stays at its root. */
function normalize(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
}

/**
 * Whether a file is an ES module by its extension or the nearest manifest's `type`; esbuild detects the rest by syntax.
 */
export function isEsModule(npm: NpmPackage, file: string): boolean {
  if (/\.m[jt]s$/.test(file)) return true;
  if (/\.c[jt]s$/.test(file) || file.endsWith(".json")) return false;
  for (let folder = file; folder !== "";) {
    folder = folder.includes("/") ? folder.slice(0, folder.lastIndexOf("/")) : "";
    const manifest = folder === "" ? npm.manifest : parseManifest(npm.files.get(`${folder}/package.json`));
    if (manifest["type"] === "module") return true;
    if (manifest["type"] === "commonjs") return false;
  }
  return false;
}

/**
 * Returns the package that a bare name in a package means.
 * @returns `null` for a name that it doesn't depend on, including optional peers: nothing installs those.
 */
export function dependencyRange(
  manifest: Manifest,
  name: string,
): { readonly name: string; readonly range: string } | null {
  for (const field of ["dependencies", "optionalDependencies", "peerDependencies"]) {
    const range = record(manifest[field])[name];
    if (typeof range !== "string") continue;
    const isOptionalPeer = record(record(manifest["peerDependenciesMeta"])[name])["optional"] === true;
    if (field === "peerDependencies" && isOptionalPeer) return null;
    const alias = /^npm:((?:@[^/@]+\/)?[^/@]+)(?:@(.*))?$/.exec(range);
    if (alias !== null) return { name: alias[1] ?? name, range: alias[2] ?? "" };
    // A folder or a git address can't be fetched from a registry.
    return /[:/]/.test(range) ? null : { name, range: range === "" ? "*" : range };
  }
  return null;
}

function parseManifest(bytes: Uint8Array | undefined): Manifest {
  if (bytes === undefined) return {};
  try {
    return record(JSON.parse(Buffer.from(bytes).toString()));
  } catch {
    return {};
  }
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}
