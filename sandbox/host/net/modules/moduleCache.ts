import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Bundle } from "./bundler.ts";
import type { GraphSources } from "./moduleGraph.ts";

/** Bundles by what was requested. A bundle never changes, whatever is published later. */
export interface ModuleCache {
  find(key: string): Promise<Bundle | undefined>;
  put(key: string, specifier: string, bundle: Bundle): Promise<void>;
}

/** Record of one pinned bundle, `<key>.json` beside `<sha256>.js`. */
interface PinRecord {
  readonly specifier: string;
  /** Of the code, in hex. */
  readonly sha256: string;
  readonly sources: GraphSources;
}

/** Total size of the bundles on disk; beyond it the oldest are evicted. */
const MAX_DISK_BYTES = 256 * 1_024 * 1_024;
/** Total length of the bundles in memory. */
const MAX_MEMORY_CHARS = 32 * 1_024 * 1_024;

/**
 * Creates a cache of bundles, in memory and, given a folder, there. A bundle is read back only if its bytes
 * still match the hash it was pinned by; a damaged one counts as absent.
 */
export function createModuleCache(folder?: string): ModuleCache {
  const memory = new Map<string, Bundle>();

  const remember = (key: string, bundle: Bundle): void => {
    memory.delete(key);
    memory.set(key, bundle);
    let chars = [...memory.values()].reduce((sum, { code }) => sum + code.length, 0);
    for (const [oldest, { code }] of memory) {
      if (chars <= MAX_MEMORY_CHARS || oldest === key) break;
      memory.delete(oldest);
      chars -= code.length;
    }
  };

  return {
    async find(key) {
      const known = memory.get(key) ?? (folder === undefined ? undefined : await readPinned(folder, key));
      if (known !== undefined) remember(key, known);
      return known;
    },
    async put(key, specifier, bundle) {
      remember(key, bundle);
      if (folder === undefined) return;
      const sha256 = hashOf(bundle.code);
      const record: PinRecord = { specifier, sha256, sources: bundle.sources };
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeWhole(join(folder, `${sha256}.js`), bundle.code);
      await writeWhole(join(folder, `${key}.json`), `${JSON.stringify(record, null, 2)}\n`);
      await evict(folder, MAX_DISK_BYTES, new Set([`${sha256}.js`, `${key}.json`]));
    },
  };
}

async function readPinned(folder: string, key: string): Promise<Bundle | undefined> {
  try {
    const record = JSON.parse(await readFile(join(folder, `${key}.json`), "utf8")) as PinRecord;
    const code = await readFile(join(folder, `${record.sha256}.js`), "latin1");
    return hashOf(code) === record.sha256 ? { code, sources: record.sources } : undefined;
  } catch {
    return undefined;
  }
}

function hashOf(code: string): string {
  return createHash("sha256").update(code, "latin1").digest("hex");
}

/** Writes under another name first: a second process, or this one after a crash, never sees half a file. */
async function writeWhole(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.${performance.now()}`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, path);
}

async function evict(folder: string, maxBytes: number, kept: ReadonlySet<string>): Promise<void> {
  const names = (await readdir(folder)).filter((name) => /^[0-9a-f]{64}\.(?:js|json)$/.test(name));
  const files = await Promise.all(
    names.map(async (name) => {
      const { size, mtimeMs } = await stat(join(folder, name));
      return { name, size, mtimeMs };
    }),
  );
  let bytes = files.reduce((sum, { size }) => sum + size, 0);
  for (const { name, size } of files.sort((a, b) => a.mtimeMs - b.mtimeMs)) {
    if (bytes <= maxBytes) break;
    if (kept.has(name)) continue;
    await rm(join(folder, name), { force: true });
    bytes -= size;
  }
}
