import { createHash } from "node:crypto";
import { join } from "node:path";
import type { GuardedFetch } from "../guardedFetch.ts";
import { createModuleAllowList, type ModuleAllowList } from "./allowList.ts";
import { makeBundle, type Bundle } from "./bundler.ts";
import { createModuleCache } from "./moduleCache.ts";
import { ModuleFailureError, type ModuleFailure } from "./moduleFailure.ts";
import { parseModuleSpecifier } from "./moduleSpecifier.ts";

export type ModuleOutcome =
  | { readonly ok: true; readonly code: string }
  | { readonly ok: false; readonly failure: ModuleFailure };

/** Loads modules that sources import from outside. */
export interface ModuleLoader {
  /**
   * Returns a module as a script to run inside the isolate; see `bundleModule` for its form. The first to ask for a
   * module waits for its download; later ones get the same bytes.
   *
   * @param type Import attribute `type`, absent for code.
   * @throws Only for our defect or the machine's; whatever the specifier causes is an outcome.
   */
  load(specifier: string, type?: string): Promise<ModuleOutcome>;
  /** Aborts the modules being prepared. */
  close(): void;
}

export interface ModuleLoaderOptions {
  readonly fetcher: GuardedFetch;
  /** Entries of the allow-list; see {@link createModuleAllowList}. Default: nothing may be imported. */
  readonly allowModules?: readonly string[];
  /** npm registry, a base URL with a final slash. Default `https://registry.npmjs.org/`. */
  readonly registry?: string;
  /** The service's data folder; bundles are kept in `modules` below it. Default: in memory only. */
  readonly dataDir?: string;
  /**
   * Alternative to `dataDir`: a folder for files that can be fetched again. If it can't be written, bundles stay in
   * memory only.
   */
  readonly cacheDir?: string;
  /** Longest time for one bundle, downloads included, in ms; the run that asked may have ended, but the next one benefits. Default 60,000. */
  readonly bundleTimeoutMs?: number;
}

/** Bundles built at once; each is a process that keeps a core busy. */
const MAX_BUNDLING = 2;
/** Bundles that may wait. */
const MAX_WAITING = 32;
/** How long a failure is remembered, so that a source in a loop doesn't hammer a registry. */
const FAILURE_MEMORY_MS = 5_000;

/** Creates a loader. Every module is checked against the allow-list on every load, cached or not. */
export function createModuleLoader(options: ModuleLoaderOptions): ModuleLoader {
  const { fetcher, allowModules = [], registry = "https://registry.npmjs.org/", dataDir, cacheDir } = options;
  const { bundleTimeoutMs = 60_000 } = options;
  const allow = createModuleAllowList(allowModules);
  const parent = dataDir ?? cacheDir;
  const cache = createModuleCache(parent === undefined ? undefined : join(parent, "modules"));
  const closing = new AbortController();
  const underWay = new Map<string, Promise<ModuleOutcome>>();
  const waiting: (() => void)[] = [];
  let bundling = 0;

  async function prepare(key: string, specifier: string, type: string | undefined): Promise<ModuleOutcome> {
    try {
      const cached = await cache.find(key);
      if (cached !== undefined) {
        assertSources(cached, allow, specifier);
        return { ok: true, code: cached.code };
      }
      const task = { specifier, type, allow: allowModules, registry };
      const bundle = await inTurn(() =>
        makeBundle(task, fetcher, AbortSignal.any([closing.signal, AbortSignal.timeout(bundleTimeoutMs)])),
      );
      await cache.put(key, specifier, bundle).catch((error: unknown) => {
        if (dataDir !== undefined) throw error;
      });
      return { ok: true, code: bundle.code };
    } catch (error) {
      if (error instanceof ModuleFailureError) return { ok: false, failure: error.failure };
      throw error;
    }
  }

  async function inTurn(make: () => Promise<Bundle>): Promise<Bundle> {
    if (bundling >= MAX_BUNDLING) {
      if (waiting.length >= MAX_WAITING)
        throw new ModuleFailureError(
          "Import failed.",
          "Too many modules are being prepared; try again shortly.",
        );
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else bundling += 1;
    try {
      return await make();
    } finally {
      const next = waiting.shift();
      if (next === undefined) bundling -= 1;
      else next();
    }
  }

  return {
    async load(specifier, type) {
      try {
        assertRoot(specifier, allow);
      } catch (error) {
        if (error instanceof ModuleFailureError) return { ok: false, failure: error.failure };
        throw error;
      }
      const key = createHash("sha256")
        .update(JSON.stringify([specifier, type ?? null, registry]))
        .digest("hex");
      const known = underWay.get(key);
      if (known !== undefined) return known;
      const outcome = prepare(key, specifier, type);
      underWay.set(key, outcome);
      const forget = (): void => {
        underWay.delete(key);
      };
      outcome.then(({ ok }) => (ok ? forget() : setTimeout(forget, FAILURE_MEMORY_MS).unref()), forget);
      return outcome;
    },
    close() {
      closing.abort();
    },
  };
}

/** Refuses a forbidden request before anything is downloaded or looked up. */
function assertRoot(specifier: string, allow: ModuleAllowList): void {
  const parsed = parseModuleSpecifier(specifier, (name) => allow.assertPackage(name));
  // The sandbox process serves built-in modules and data URLs where it can.
  if (parsed.kind === "node") throw new ModuleFailureError(`No such built-in module: node:${parsed.name}`);
  if (parsed.kind === "data")
    throw new ModuleFailureError("Expected a JavaScript or TypeScript module in a data: URL.");
  if (parsed.kind === "url") allow.assertUrl(parsed.url);
}

/** Checks the sources again: the list may have become shorter since the module was bundled. */
function assertSources({ sources }: Bundle, allow: ModuleAllowList, specifier: string): void {
  for (const url of sources.urls) allow.assertUrl(new URL(url));
  const parsed = parseModuleSpecifier(specifier);
  if (parsed.kind !== "npm") return;
  for (const { name, version } of sources.packages)
    if (name === parsed.name) allow.assertVersion(name, version);
}
