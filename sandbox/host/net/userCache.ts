import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** The folder of this user for what can be had again, as the XDG Base Directory Specification places it. */
export function userCacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const named = environment["XDG_CACHE_HOME"];
  return join(named !== undefined && isAbsolute(named) ? named : join(homedir(), ".cache"), "tyche");
}
