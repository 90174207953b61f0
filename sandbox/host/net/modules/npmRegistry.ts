import { createHash } from "node:crypto";
import { maxSatisfying, satisfies, validRange } from "semver";
import { ModuleFailureError } from "./moduleFailure.ts";
import { isRecord } from "./packageExports.ts";
import { unpackTarball } from "./tarball.ts";

/** Fetches a URL from outside; the response must be checked. */
export type Download = (url: string, accept: string) => Promise<Downloaded>;

export interface Downloaded {
  readonly status: number;
  /** After redirects. */
  readonly url: string;
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** The part of a package's manifest that resolution reads. Hostile input: every member may be anything. */
export type Manifest = Readonly<Record<string, unknown>>;

/** An unpacked package whose bytes matched the registry's sha512. */
export interface NpmPackage {
  readonly name: string;
  readonly version: string;
  /** SRI, `sha512-…`. */
  readonly integrity: string;
  readonly manifest: Manifest;
  readonly files: ReadonlyMap<string, Uint8Array>;
}

export interface NpmRegistry {
  /**
   * Returns the package that a range or dist-tag means: a version already in this graph if it fits, else the tag `latest` if it fits,
   * else the highest version that does.
   * @throws {ModuleFailureError} With Deno's texts: no such package or version, unreachable, checksum mismatch.
   */
  get(name: string, range: string, assertVersion: (version: string) => void): Promise<NpmPackage>;
  /**
   * Chooses the version for a range as `get` does, and starts its download.
   * @returns Its manifest, as in the registry's document.
   */
  choose(name: string, range: string): Promise<Manifest>;
}

/**
 * Creates a reader of an npm registry for one module graph.
 *
 * @param registry Base URL with a final slash. Tarballs are accepted from its own origin only.
 */
export function createNpmRegistry(registry: string, download: Download): NpmRegistry {
  const packuments = new Map<string, Promise<Packument>>();
  const packages = new Map<string, Promise<NpmPackage>>();
  const chosen = new Map<string, Set<string>>();

  const packumentOf = (name: string): Promise<Packument> => {
    const known = packuments.get(name) ?? fetchPackument(registry, name, download);
    packuments.set(name, known);
    return known;
  };

  const pick = async (name: string, range: string, assertVersion?: (version: string) => void) => {
    const packument = await packumentOf(name);
    const inGraph = chosen.get(name) ?? new Set();
    chosen.set(name, inGraph);
    const version = pickVersion(packument, range, [...inGraph]);
    assertVersion?.(version);
    inGraph.add(version);
    const key = `${name}@${version}`;
    const npm = packages.get(key) ?? fetchPackage(registry, packument, version, download);
    packages.set(key, npm);
    return { npm, manifest: packument.versions[version] };
  };

  return {
    async get(name, range, assertVersion) {
      return (await pick(name, range, assertVersion)).npm;
    },
    async choose(name, range) {
      const { npm, manifest } = await pick(name, range);
      // Whoever imports the package gets the error.
      npm.catch(() => undefined);
      return isRecord(manifest) ? manifest : {};
    },
  };
}

interface Packument {
  readonly name: string;
  readonly tags: Readonly<Record<string, unknown>>;
  readonly versions: Readonly<Record<string, unknown>>;
}

/** Returns the URL of a package's document and the form to request: the abbreviated one, a tenth of the full document. */
export function packumentRequest(
  registry: string,
  name: string,
): { readonly url: string; readonly accept: string } {
  return {
    url: registry + name.replace("/", "%2f"),
    accept: "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8",
  };
}

async function fetchPackument(registry: string, name: string, download: Download): Promise<Packument> {
  const { url, accept } = packumentRequest(registry, name);
  const failed = (why: string, hint?: string) =>
    new ModuleFailureError(`Failed loading ${url} for package "${name}"\n    0: ${why}`, hint);
  const reply = await download(url, accept).catch((error: unknown) => {
    throw error instanceof ModuleFailureError
      ? failed(error.message, `The npm registry could not be reached. ${error.failure.hint ?? ""}`.trimEnd())
      : error;
  });
  if (reply.status === 404) throw new ModuleFailureError(`npm package '${name}' does not exist.`);
  if (reply.status !== 200) throw failed(`Bad response: ${reply.status}`);
  const document = parseRecord(reply.body);
  if (document === null || !isRecord(document["versions"]))
    throw failed("The answer is not a package document.");
  const tags = document["dist-tags"];
  return { name, tags: isRecord(tags) ? tags : {}, versions: document["versions"] };
}

function pickVersion({ name, tags, versions }: Packument, range: string, inGraph: readonly string[]): string {
  const wanted = range === "" ? "latest" : range;
  if (validRange(wanted) === null || wanted === "latest") {
    const tagged = Object.hasOwn(tags, wanted) ? tags[wanted] : undefined;
    if (typeof tagged === "string" && Object.hasOwn(versions, tagged)) return tagged;
    throw new ModuleFailureError(`Could not find dist-tag '${wanted}' for npm package '${name}'.`);
  }
  const { latest } = tags;
  const preferred =
    typeof latest === "string" && Object.hasOwn(versions, latest) ? [...inGraph, latest] : inGraph;
  const version =
    preferred.find((known) => satisfies(known, wanted)) ?? maxSatisfying(Object.keys(versions), wanted);
  if (version === null)
    throw new ModuleFailureError(`Could not find npm package '${name}' matching '${wanted}'.`);
  return version;
}

async function fetchPackage(
  registry: string,
  packument: Packument,
  version: string,
  download: Download,
): Promise<NpmPackage> {
  const { name } = packument;
  const failed = (why: string) =>
    new ModuleFailureError(`Failed caching npm package '${name}@${version}'\n    0: ${why}`);
  const entry = packument.versions[version];
  const dist = isRecord(entry) ? entry["dist"] : undefined;
  const tarball = isRecord(dist) && typeof dist["tarball"] === "string" ? URL.parse(dist["tarball"]) : null;
  if (tarball === null || tarball.origin !== new URL(registry).origin)
    throw failed("The registry names no tarball of its own.");
  const integrity =
    isRecord(dist) && typeof dist["integrity"] === "string" ? sha512Of(dist["integrity"]) : undefined;
  if (integrity === undefined) throw failed("The registry names no sha512 checksum.");
  const reply = await download(tarball.href, "*/*");
  if (reply.status !== 200) throw failed(`Bad response: ${reply.status}`);
  const actual = createHash("sha512").update(reply.body).digest("base64");
  if (integrity !== `sha512-${actual}`) {
    throw failed(`Tarball checksum did not match what was provided by npm registry for ${name}@${version}.`);
  }
  const files = await unpackTarball(reply.body);
  const manifest = parseRecord(files.get("package.json") ?? new Uint8Array());
  if (manifest === null) throw failed("It has no package.json.");
  return { name, version, integrity, manifest, files };
}

/** Returns the sha512 of an SRI list, the only hash that is accepted. */
function sha512Of(integrity: string): string | undefined {
  return integrity.split(/\s+/).find((part) => part.startsWith("sha512-"));
}

function parseRecord(bytes: Uint8Array): Manifest | null {
  try {
    const value: unknown = JSON.parse(
      Buffer.from(bytes)
        .toString()
        .replace(/^\ufeff/, ""),
    );
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}
