import type { Migrated } from "../store/store.ts";

/** Describes in a line how a start has migrated the database of an earlier version. */
export function describeMigrated({ from, names, ms }: Migrated): string {
  return `the database was migrated from ${from} to ${names.at(-1)} in ${(ms / 1000).toFixed(2)} s`;
}
