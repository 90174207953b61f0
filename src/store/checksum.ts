import { crc32 } from "node:zlib";
import { TycheError } from "../lib/errors.ts";

/**
 * Returns the CRC-32 of a row's columns, in a fixed order. It detects flipped bytes that SQLite, which only checks the structure of its
 * pages, misses.
 */
export function checksumOf(columns: readonly (string | number | null)[]): number {
  return crc32(JSON.stringify(columns));
}

/** A stored record differs from what was written. */
export class DamagedRecordError extends TycheError {
  constructor(what: string) {
    super(`${what} in the database is damaged; stop the service, and put the database back from a backup`, {
      code: "store_unusable",
      blame: "us",
    });
  }
}
