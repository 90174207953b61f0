import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { startServer } from "../servers.ts";

/** A package of the test registry: its manifest and its other files. */
export interface TestPackage {
  readonly manifest: { readonly name: string; readonly version: string } & Readonly<Record<string, unknown>>;
  readonly files: Readonly<Record<string, string>>;
  /** The registry's metadata of the tarball; default its true sha512. */
  readonly dist?: Readonly<Record<string, unknown>>;
  readonly tags?: readonly string[];
}

export interface TestRegistry {
  /** Base URL with a trailing slash. */
  readonly url: string;
  /** `127.0.0.1:port`. */
  readonly host: string;
  /** Requested paths, in order. */
  readonly requests: readonly string[];
  /** Makes the server answer every further request with 503. */
  stop(): void;
}

/** Serves packages like npm's registry: a document per name, a tarball per version. */
export async function startRegistry(packages: readonly TestPackage[]): Promise<TestRegistry> {
  const requests: string[] = [];
  const tarballs = new Map<string, Buffer>();
  let isStopped = false;
  const server = await startServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "").slice(1);
    requests.push(path);
    const tarball = tarballs.get(path);
    const versions = packages.filter(({ manifest }) => manifest.name === path);
    if (isStopped) response.writeHead(503).end();
    else if (tarball !== undefined) response.end(tarball);
    else if (versions.length === 0) response.writeHead(404).end("{}");
    else response.end(JSON.stringify(documentOf(versions, server.origin, tarballs)));
  });
  for (const { manifest, files } of packages) {
    const all = { "package.json": JSON.stringify(manifest), ...files };
    tarballs.set(tarballPath(manifest), makeTarball(all));
  }
  return { url: `${server.origin}/`, host: server.host, requests, stop: () => (isStopped = true) };
}

function documentOf(
  versions: readonly TestPackage[],
  origin: string,
  tarballs: ReadonlyMap<string, Buffer>,
): object {
  const tags: Record<string, string> = {};
  const entries = versions.map(({ manifest, dist, tags: named = ["latest"] }) => {
    for (const tag of named) tags[tag] = manifest.version;
    const path = tarballPath(manifest);
    const integrity = `sha512-${createHash("sha512")
      .update(tarballs.get(path) ?? "")
      .digest("base64")}`;
    return [manifest.version, { ...manifest, dist: { tarball: `${origin}/${path}`, integrity, ...dist } }];
  });
  return {
    name: versions[0]?.manifest.name,
    "dist-tags": tags,
    versions: Object.fromEntries(entries) as object,
  };
}

function tarballPath({ name, version }: { readonly name: string; readonly version: string }): string {
  return `${name}/-/${name.replace(/^.*\//, "")}-${version}.tgz`;
}

/** An entry of a tar file: path, content, and a type flag, by default a regular file's. */
export interface TarEntry {
  readonly path: string;
  readonly content: string;
  readonly type?: string;
  /** Size in bytes that the header claims; default the content's. */
  readonly size?: number;
}

/** Packs files like npm, in the folder `package`. */
export function makeTarball(files: Readonly<Record<string, string>>): Buffer {
  return packTar(Object.entries(files).map(([path, content]) => ({ path: `package/${path}`, content })));
}

/** Writes a gzipped ustar file (POSIX.1-1988). */
export function packTar(entries: readonly TarEntry[]): Buffer {
  const blocks = entries.flatMap(({ path, content, type = "0", size }) => {
    const body = Buffer.from(content);
    const header = Buffer.alloc(512);
    header.write(path, 0, 100);
    header.write("0000644\0", 100);
    header.write(`${(size ?? body.length).toString(8).padStart(11, "0")}\0`, 124);
    header.write(" ".repeat(8), 148);
    header.write(type, 156);
    header.write("ustar\u000000", 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    return [header, body, Buffer.alloc((512 - (body.length % 512)) % 512)];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1_024)]));
}
