import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { HostCall } from "../hostCall.ts";
import { createFetchCall } from "./fetchCall.ts";
import { createGuardedFetch, type GuardedFetchOptions } from "./guardedFetch.ts";
import { createImportCall } from "./importCall.ts";
import { DEVELOPER_MODULES } from "./modules/allowList.ts";
import { createModuleLoader, type ModuleLoaderOptions } from "./modules/moduleLoader.ts";

export interface SandboxNetworkOptions extends GuardedFetchOptions, Omit<ModuleLoaderOptions, "fetcher"> {}

/** What sources may reach outside, as host calls for a pool. */
export interface SandboxNetwork {
  readonly hostCalls: Readonly<Record<"fetch" | "import", HostCall>>;
  /** Aborts the modules being prepared; requests end with their runs. */
  close(): void;
}

/**
 * Creates the network of a pool's sources: `fetch` to public hosts and those in `allowHosts`, `import()` of the
 * modules in `allowModules`, stored below `dataDir`. One network may serve several pools.
 *
 * @example
 * const network = createSandboxNetwork({ dataDir: ".tyche" });
 * const pool = createSandboxPool({ hostCalls: network.hostCalls });
 */
export function createSandboxNetwork(options: SandboxNetworkOptions = {}): SandboxNetwork {
  const fetcher = createGuardedFetch(options);
  const loader = createModuleLoader({ ...options, fetcher });
  return {
    hostCalls: { fetch: createFetchCall(fetcher), import: createImportCall(loader) },
    close: () => loader.close(),
  };
}

/**
 * What a developer's own machine lets sources reach, as Deno would there: every host including loopback, every
 * npm package and the https hosts that Deno trusts, stored in the user's cache. Never use it for other people's
 * sources.
 */
export const DEVELOPER_NETWORK: SandboxNetworkOptions = {
  allowHosts: ["*"],
  allowModules: DEVELOPER_MODULES,
  cacheDir: userCacheFolder(),
};

/** Returns this user's cache folder, as defined by the XDG Base Directory Specification. */
function userCacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const named = environment["XDG_CACHE_HOME"];
  return join(named !== undefined && isAbsolute(named) ? named : join(homedir(), ".cache"), "tyche");
}
