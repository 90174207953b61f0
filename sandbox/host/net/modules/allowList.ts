import { satisfies, validRange } from "semver";
import { SandboxOptionError } from "../../sandboxError.ts";
import { ModuleFailureError } from "./moduleFailure.ts";

/**
 * What a developer's own machine may load: every npm package, and the https hosts that Deno trusts by default.
 */
export const DEVELOPER_MODULES: readonly string[] = [
  "npm:*",
  "https://deno.land/",
  "https://jsr.io/",
  "https://esm.sh/",
  "https://raw.esm.sh/",
  "https://cdn.jsdelivr.net/",
  "https://raw.githubusercontent.com/",
  "https://gist.githubusercontent.com/",
];

/** The modules that sources may import from outside. An allowed npm package includes its dependencies. */
export interface ModuleAllowList {
  /** @throws {ModuleFailureError} If no entry names the package, whatever the version. */
  assertPackage(name: string): void;
  /** @throws {ModuleFailureError} If no entry admits this version. */
  assertVersion(name: string, version: string): void;
  /** @throws {ModuleFailureError} If no entry is a prefix of the URL. */
  assertUrl(url: URL): void;
}

/**
 * Creates the list from an operator's entries.
 *
 * @param entries `npm:*`, `npm:@scope/*`, `npm:name`, `npm:name@range`, or a URL prefix that ends in `/`
 * (`https://esm.sh/`, `https://deno.land/x/oak@v17/`). Empty: nothing may be imported.
 * @throws {SandboxOptionError} `invalid_option`, naming the first entry that has none of these forms.
 */
export function createModuleAllowList(entries: readonly string[]): ModuleAllowList {
  const packages = entries.filter((entry) => entry.startsWith("npm:")).map(parsePackageEntry);
  const prefixes = entries.filter((entry) => !entry.startsWith("npm:")).map(parseUrlEntry);
  const matching = (name: string) => packages.filter((entry) => entry.matches(name));
  return {
    assertPackage(name) {
      if (matching(name).length === 0) throw notAllowed(`npm:${name}`, `npm:${name}`);
    },
    assertVersion(name, version) {
      const admitted = matching(name).some(({ range }) => range === null || satisfies(version, range));
      if (!admitted) throw notAllowed(`npm:${name}@${version}`, `npm:${name}@${version}`);
    },
    assertUrl(url) {
      const admitted = prefixes.some(
        (prefix) => url.href === prefix || (prefix.endsWith("/") && url.href.startsWith(prefix)),
      );
      if (admitted) return;
      const port = url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
      throw notAllowed(`${url.hostname}:${port}`, `${url.origin}/`);
    },
  };
}

interface PackageEntry {
  readonly matches: (name: string) => boolean;
  readonly range: string | null;
}

function parsePackageEntry(entry: string): PackageEntry {
  const text = entry.slice("npm:".length);
  if (text === "*") return { matches: () => true, range: null };
  if (/^@[\w~-][\w.~-]*\/\*$/.test(text))
    return { matches: (name) => name.startsWith(text.slice(0, -1)), range: null };
  const at = text.indexOf("@", 1);
  const allowed = at === -1 ? text : text.slice(0, at);
  const range = at === -1 ? null : text.slice(at + 1);
  if (!/^(?:@[\w~-][\w.~-]*\/)?[\w~-][\w.~-]*$/.test(allowed)) throw unusable(entry);
  if (range !== null && (range === "" || validRange(range) === null)) throw unusable(entry);
  return { matches: (name) => name === allowed, range };
}

function parseUrlEntry(entry: string): string {
  const url = URL.parse(entry);
  // A browser's parser would mend blanks, missing slashes and backslashes; a list should say what it means.
  if (url === null || !/^https?:\/\/[^\s/@\\*]+(?:\/[^\s#\\*]*)?$/i.test(entry)) throw unusable(entry);
  return url.href;
}

function unusable(entry: string): SandboxOptionError {
  const form =
    "an entry is a package (npm:ethers, npm:ethers@^6, npm:@noble/*, npm:* for every package) or the start of a URL that ends in / (https://esm.sh/)";
  return new SandboxOptionError("allowModules", entry, form);
}

/** Deno's message for a host without import permission; packages, which Deno always admits, use it too. */
function notAllowed(what: string, entry: string): ModuleFailureError {
  return new ModuleFailureError(
    `Requires import access to "${what}", run again with the --allow-import flag`,
    `This module is not on the list of modules that sources may import here; the operator can allow it by adding "${entry}".`,
  );
}
