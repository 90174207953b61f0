import { isBuiltin } from "node:module";
import { parseDataUrl } from "../../dataUrl.ts";
import type { ModuleAllowList } from "./allowList.ts";
import { lookAhead } from "./lookAhead.ts";
import { ModuleFailureError } from "./moduleFailure.ts";
import {
  parseModuleSpecifier,
  parseNpmSpecifier,
  type ModuleSpecifier,
  type NpmSpecifier,
} from "./moduleSpecifier.ts";
import { createNpmRegistry, type Download, type NpmPackage, type NpmRegistry } from "./npmRegistry.ts";
import { dependencyRange, isEsModule, packageFile, type ImportKind } from "./packageFiles.ts";

/** A module of the graph. Its path is its identity in the bundle. */
export type GraphModule =
  | { readonly path: string; readonly kind: "node"; readonly name: string }
  | { readonly path: string; readonly kind: "missing"; readonly name: string }
  | {
      readonly path: string;
      readonly kind: "code";
      readonly language: Language;
      readonly contents: Uint8Array;
      readonly origin: Origin;
    };

export type Language = "js" | "jsx" | "ts" | "tsx" | "json";

/** Where a module came from: the base of its own relative specifiers. */
type Origin =
  | { readonly kind: "npm"; readonly npm: NpmPackage; readonly file: string }
  | { readonly kind: "url"; readonly url: URL }
  | { readonly kind: "data" };

/** Finds and reads modules from outside. One graph serves one bundle. */
export interface ModuleGraph {
  /** Resolves what a source imports. @throws {ModuleFailureError} With Deno's text. */
  root(specifier: string): Promise<GraphModule>;
  /** Resolves what a module of the graph imports. @throws {ModuleFailureError} With Deno's text. */
  resolve(specifier: string, importer: GraphModule, kind: ImportKind): Promise<GraphModule>;
  /** Returns the packages and URLs used so far. */
  sources(): GraphSources;
}

/** Where the code of a bundle came from, for its record. */
export interface GraphSources {
  readonly packages: readonly {
    readonly name: string;
    readonly version: string;
    readonly integrity: string;
  }[];
  /** After redirects. */
  readonly urls: readonly string[];
}

export interface ModuleGraphOptions {
  readonly allow: ModuleAllowList;
  readonly registry: string;
  readonly download: Download;
}

/**
 * Creates a graph whose npm packages come from a registry, checked against its sha512, and whose URLs are on the
 * allow-list. Packages resolve as in Node and Deno: `exports`, `imports`, `main`, `require` with its searches.
 */
export function createModuleGraph({ allow, registry, download }: ModuleGraphOptions): ModuleGraph {
  const npm = createNpmRegistry(registry, download);
  const urls = new Map<string, Promise<GraphModule>>();
  const packages = new Map<string, NpmPackage>();
  const finalUrls = new Set<string>();

  const noted = (module: GraphModule): GraphModule => {
    if (module.kind !== "code") return module;
    if (module.origin.kind === "url") finalUrls.add(module.origin.url.href);
    if (module.origin.kind === "npm") {
      packages.set(`${module.origin.npm.name}@${module.origin.npm.version}`, module.origin.npm);
    }
    return module;
  };

  const fromUrl = (url: URL): Promise<GraphModule> => {
    allow.assertUrl(url);
    const known = urls.get(url.href) ?? downloadModule(url, allow, download);
    urls.set(url.href, known);
    return known;
  };

  const fromOutside = (specifier: ModuleSpecifier): Promise<GraphModule> | GraphModule => {
    switch (specifier.kind) {
      case "node":
        return nodeModule(specifier.name);
      case "url":
        return fromUrl(specifier.url);
      case "data":
        return dataModule(specifier.url);
      default:
        allow.assertPackage(specifier.name);
        return npmModule(
          npm,
          specifier,
          (version) => allow.assertVersion(specifier.name, version),
          "import-statement",
        );
    }
  };

  return {
    async root(specifier) {
      return noted(await fromOutside(parseModuleSpecifier(specifier)));
    },
    async resolve(specifier, importer, kind) {
      if (isBuiltin(specifier)) return nodeModule(specifier.replace(/^node:/, ""));
      const origin = importer.kind === "code" ? importer.origin : ({ kind: "data" } as const);
      if (origin.kind === "npm") return noted(await resolveInPackage(npm, origin, specifier, kind));
      const isRelative = /^\.{0,2}\//.test(specifier);
      if (isRelative && origin.kind === "url") return noted(await fromUrl(new URL(specifier, origin.url)));
      const parsed = URL.parse(specifier);
      if (parsed === null || parsed.protocol === "file:") throw unprefixed(specifier);
      return noted(await fromOutside(parseModuleSpecifier(specifier)));
    },
    sources: () => ({
      packages: [...packages.values()].map(({ name, version, integrity }) => ({ name, version, integrity })),
      urls: [...finalUrls],
    }),
  };
}

function unprefixed(specifier: string): ModuleFailureError {
  return new ModuleFailureError(`Relative import path "${specifier}" not prefixed with / or ./ or ../`);
}

function nodeModule(name: string): GraphModule {
  return { path: `node:${name}`, kind: "node", name };
}

async function npmModule(
  npm: NpmRegistry,
  { name, range, subpath }: NpmSpecifier,
  assertVersion: (version: string) => void,
  kind: ImportKind,
): Promise<GraphModule> {
  const found = await npm.get(name, range, assertVersion);
  const module = moduleOf(found, subpath, kind);
  await lookAhead(npm, found);
  return module;
}

function moduleOf(npm: NpmPackage, subpath: string, kind: ImportKind): GraphModule {
  const file = packageFile(npm, subpath, kind);
  if (file === null) throw new ModuleFailureError(missingText(npm, subpath));
  const contents = npm.files.get(file) ?? new Uint8Array();
  const language = languageOf(file, npm, file);
  // esbuild gives an importer Node's view of CommonJS (`default` is `module.exports`) if its name ends in `.mjs`.
  const marker = isEsModule(npm, file) && !/\.m[jt]s$/.test(file) ? "#.mjs" : "";
  const path = `npm:${npm.name}@${npm.version}/${file}${marker}`;
  return { path, kind: "code", language, contents, origin: { kind: "npm", npm, file } };
}

function missingText(npm: NpmPackage, subpath: string): string {
  const folder = `npm:${npm.name}@${npm.version}`;
  if (npm.manifest["exports"] !== undefined) {
    const what =
      subpath === "."
        ? 'No "exports" main defined'
        : `Package subpath '${subpath}' is not defined by "exports"`;
    return `[ERR_PACKAGE_PATH_NOT_EXPORTED] ${what} in '${folder}/package.json'`;
  }
  return `[ERR_MODULE_NOT_FOUND] Cannot find module '${folder}${subpath.slice(1)}'`;
}

async function resolveInPackage(
  npm: NpmRegistry,
  { npm: owner, file }: Origin & { readonly kind: "npm" },
  specifier: string,
  kind: ImportKind,
): Promise<GraphModule> {
  if (/^\.{1,2}(?:\/|$)/.test(specifier)) {
    const inner = new URL(specifier, `file:///${file}`).pathname;
    return moduleOrMissing(owner, { subpath: `.${decodeURI(inner)}`, specifier, kind, isInner: true });
  }
  if (specifier.startsWith("#"))
    return moduleOrMissing(owner, { subpath: specifier, specifier, kind, isInner: false });
  const wanted =
    /^[\w@]/.test(specifier) && !specifier.includes(":") ? parseNpmSpecifier(`npm:${specifier}`) : null;
  if (wanted === null) throw unprefixed(specifier);
  const path = wanted.subpath;
  if (wanted.name === owner.name)
    return moduleOrMissing(owner, { subpath: path, specifier, kind, isInner: false });
  const dependency = dependencyRange(owner.manifest, wanted.name);
  if (dependency === null) return missing(specifier, owner, kind);
  const found = await npm.get(dependency.name, dependency.range, () => undefined);
  return moduleOrMissing(found, { subpath: path, specifier, kind, isInner: false });
}

function moduleOrMissing(
  npm: NpmPackage,
  asked: {
    readonly subpath: string;
    readonly specifier: string;
    readonly kind: ImportKind;
    readonly isInner: boolean;
  },
): GraphModule {
  const file = packageFile(npm, asked.subpath, asked.kind, asked.isInner);
  if (file === null) return missing(asked.specifier, npm, asked.kind);
  return file.startsWith("node:") ? nodeModule(file.slice(5)) : moduleOf(npm, `file:${file}`, asked.kind);
}

/**
 * Lets a `require` or `import()` of a missing package fail when it runs, usually inside a `try`; an `import` statement
 * fails at once.
 */
function missing(name: string, owner: NpmPackage, kind: ImportKind): GraphModule {
  if (kind !== "import-statement") return { path: `missing:${name}`, kind: "missing", name };
  throw new ModuleFailureError(
    `[ERR_MODULE_NOT_FOUND] Cannot find package '${name}' imported from 'npm:${owner.name}@${owner.version}'`,
  );
}

async function downloadModule(url: URL, allow: ModuleAllowList, download: Download): Promise<GraphModule> {
  const reply = await download(url.href, "*/*").catch((error: unknown) => {
    if (!(error instanceof ModuleFailureError)) throw error;
    throw new ModuleFailureError(`Import '${url.href}' failed.\n    0: ${error.message}`, error.failure.hint);
  });
  if (reply.status === 404) throw new ModuleFailureError(`Module not found "${url.href}".`);
  if (reply.status !== 200) throw new ModuleFailureError(`Import '${url.href}' failed: ${reply.status}`);
  const final = new URL(reply.url);
  // A redirect must not lead off the list.
  allow.assertUrl(final);
  const language = languageOf(final.pathname, null, url.href, reply.contentType);
  return {
    path: final.href,
    kind: "code",
    language,
    contents: reply.body,
    origin: { kind: "url", url: final },
  };
}

function dataModule(url: string): GraphModule {
  const { mediaType = "", bytes = new Uint8Array() } = parseDataUrl(url) ?? {};
  const language = languageOf("", null, url.slice(0, 80), mediaType);
  return { path: url, kind: "code", language, contents: bytes, origin: { kind: "data" } };
}

function languageOf(path: string, npm: NpmPackage | null, name: string, contentType = ""): Language {
  const [mediaType = ""] = contentType.split(";");
  const byType = LANGUAGE_OF_TYPE[mediaType.trim().toLowerCase()];
  if (byType !== undefined) return byType;
  const extension = /\.[cm]?(js|ts|jsx|tsx|json)$/.exec(path)?.[1];
  if (extension !== undefined) return extension as Language;
  const other = /\.(\w+)$/.exec(path)?.[1];
  // Node treats a file without an extension as a script; so do we if a server gives no type.
  if (other === undefined || (npm === null && !["css", "html", "wasm"].includes(other))) return "js";
  throw new ModuleFailureError(
    `Expected a JavaScript or TypeScript module, but identified a ${other} module.\n  Specifier: ${name}`,
  );
}

const LANGUAGE_OF_TYPE: Readonly<Record<string, Language>> = {
  "application/javascript": "js",
  "application/json": "json",
  "application/typescript": "ts",
  "application/x-javascript": "js",
  "application/x-typescript": "ts",
  "text/javascript": "js",
  "text/json": "json",
  "text/jsx": "jsx",
  "text/tsx": "tsx",
  "text/typescript": "ts",
  "video/mp2t": "ts",
};
