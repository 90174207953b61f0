import { keep, readKept } from "./kept.ts";

const KEY = "tyche.pageKey";

/** Reads the key that the service gave this origin's pages for their session; empty if there is none. */
export function readPageKey(): string {
  return readKept(KEY) ?? "";
}

/** Stores the session's page key for all pages of this origin; `undefined` deletes it. */
export function keepPageKey(key: string | undefined): void {
  keep(KEY, key);
}
