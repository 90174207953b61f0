import path from "node:path";
import { setFlagsFromString } from "node:v8";
import type { LoadedConfig } from "../config/readConfig.ts";

/** Returns the data directory, resolved as the service itself does. */
export function dataDirOfEnvironment(): string {
  return path.resolve(process.env["TYCHE_DATA_DIR"] ?? ".tyche");
}

/** Reads the configuration from a file, or from its default place. `given` are variables that flags of the command override. */
export async function loadConfig(
  file: string | undefined,
  given: Readonly<Record<string, string | undefined>> = {},
): Promise<LoadedConfig> {
  const { readConfig } = await import("../config/readConfig.ts");
  const overrides = Object.entries(given).filter(([, value]) => value !== undefined);
  const environment = { ...process.env, ...Object.fromEntries(overrides) };
  return readConfig({ file, dataDir: dataDirOfEnvironment(), environment });
}

/** Loads what runs for long. By default V8 collects a heap with 50 MB of live objects only at 170 to 230 MB: a third of the process. */
export async function loadService<T>(modules: Promise<T>): Promise<T> {
  const loaded = await modules;
  // Not before: under other flags V8 rejects its cached code of Node's modules and compiles them anew.
  setFlagsFromString("--heap-growing-percent=60");
  return loaded;
}
