import { isBuiltin } from "node:module";
import { validRange } from "semver";
import { ModuleFailureError } from "./moduleFailure.ts";

/** What a specifier asks for, if it can be loaded from outside. */
export type ModuleSpecifier =
  | NpmSpecifier
  | { readonly kind: "node"; readonly name: string }
  | { readonly kind: "url"; readonly url: URL }
  | { readonly kind: "data"; readonly url: string };

export interface NpmSpecifier {
  readonly kind: "npm";
  /** With its scope, e.g. `@noble/hashes`. */
  readonly name: string;
  /** Semver range or dist-tag; `""` means the tag `latest`. */
  readonly range: string;
  /** `.` or `./path`, as in a package's `exports`. */
  readonly subpath: string;
}

/** Longest version requirement, in characters: parsing one costs more than its length. */
const MAX_RANGE_CHARS = 256;

/**
 * Parses the specifier of an `import()` in a source.
 *
 * @param admitPackage Called with an npm package's name before the rest of the specifier is parsed; throws if the
 * package may not be imported.
 * @throws {ModuleFailureError} With Deno 2's text for everything that the nodes can't load either: bare names, files,
 * blobs, unknown schemes.
 */
export function parseModuleSpecifier(
  specifier: string,
  admitPackage?: (name: string) => void,
): ModuleSpecifier {
  if (isBuiltin(specifier)) return { kind: "node", name: specifier.replace(/^node:/, "") };
  if (specifier.startsWith("npm:")) return parseNpmSpecifier(specifier, admitPackage);
  // The nodes store the source as a file in the temporary folder, so relative paths resolve there.
  if (/^\.{0,2}\//.test(specifier)) throw fileFailure(new URL(specifier, "file:///tmp/").pathname);
  const url = URL.parse(specifier);
  if (url === null) {
    if (/^https?:/.test(specifier)) throw new ModuleFailureError("invalid URL: empty host");
    throw new ModuleFailureError(
      `Import "${specifier}" not a dependency`,
      `To import an npm package, write import("npm:${specifier}").`,
    );
  }
  switch (url.protocol) {
    case "http:":
    case "https:":
      return { kind: "url", url };
    case "data:":
      return { kind: "data", url: specifier };
    case "node:":
      throw new ModuleFailureError(`No such built-in module: ${specifier}`);
    case "file:":
      throw fileFailure(url.pathname);
    case "blob:":
      throw new ModuleFailureError(`Module not found "${specifier}".`);
    case "jsr:":
      throw jsrFailure(url.pathname);
    default:
      throw schemeFailure(url.protocol.slice(0, -1), specifier);
  }
}

/**
 * Parses `npm:[/]name[@range][/subpath]`.
 * @throws {ModuleFailureError} With Deno 2's text.
 */
export function parseNpmSpecifier(specifier: string, admitPackage?: (name: string) => void): NpmSpecifier {
  const match = /^npm:\/?((?:@[^/@]+\/)?[^/@]+)(?:@([^/]*))?(?:\/(.*))?$/.exec(specifier);
  const [, name = "", range = "", path = ""] = match ?? [];
  if (name === "" || !PACKAGE_NAME.test(name)) {
    const why =
      specifier === "npm:" ? "Did not contain a package name" : "Did not contain a valid package name";
    throw new ModuleFailureError(`Invalid package specifier '${specifier}'\n    0: ${why}`);
  }
  admitPackage?.(name);
  if (range !== "" && !isRangeOrTag(range)) {
    throw new ModuleFailureError(
      `Invalid package specifier '${specifier}'\n    0: Invalid specifier version requirement`,
    );
  }
  return { kind: "npm", name, range, subpath: path === "" ? "." : `./${path}` };
}

/** Whether a text can follow the `@` of a package: a semver range without blanks, or a dist-tag. */
function isRangeOrTag(text: string): boolean {
  if (text.length > MAX_RANGE_CHARS) return false;
  return !/\s/.test(text) && (validRange(text) !== null || /^[A-Za-z][\w.-]*$/.test(text));
}

// The names that the registry accepts, including old upper-case ones (validate-npm-package-name).
const PACKAGE_NAME = /^(?:@[A-Za-z0-9~-][A-Za-z0-9._~-]*\/)?[A-Za-z0-9~-][A-Za-z0-9._~-]*$/;

function fileFailure(path: string): ModuleFailureError {
  return new ModuleFailureError(
    `Module not found "file://${path}".`,
    "A source has no file system; it can import node:, npm: and https: modules.",
  );
}

/** Creates Deno's failure for an unreachable jsr.io. */
function jsrFailure(pathname: string): ModuleFailureError {
  const name = pathname.replace(/^\//, "").replace(/(.)@.*$/, "$1");
  return new ModuleFailureError(
    `JSR package manifest for '${name}' failed to load. Import 'https://jsr.io/${name}/meta.json' failed.`,
    "jsr: modules are not supported here; import the package from npm: or https:.",
  );
}

function schemeFailure(scheme: string, specifier: string): ModuleFailureError {
  const known = ["blob", "data", "file", "http", "https", "jsr", "npm"]
    .map((name) => ` - "${name}"`)
    .join("\n");
  return new ModuleFailureError(
    `Unsupported scheme "${scheme}" for module "${specifier}". Supported schemes:\n${known}`,
  );
}
