import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** Returns this user's cache folder, as defined by the XDG Base Directory Specification. */
export function userCacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const named = environment["XDG_CACHE_HOME"];
  return join(named !== undefined && isAbsolute(named) ? named : join(homedir(), ".cache"), "tyche");
}
