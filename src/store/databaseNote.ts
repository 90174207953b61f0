import { readFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../lib/errors.ts";
import type { DataDirectory } from "./dataDirectory.ts";
import { StoreError } from "./storeErrors.ts";

/** File in a data directory whose database is on a server. Holds the name of the variable with the database's URL, never the URL. */
const NOTE = "database";

/** Records in a data directory which variable holds its database's URL, for commands that run beside the service. */
export function noteDatabase(directory: Pick<DataDirectory, "writeSecret">, variable: string): void {
  directory.writeSecret(NOTE, `${variable}\n`);
}

/**
 * Returns the name of the variable that holds the URL of a data directory's database; `undefined` if the database is a file in it.
 *
 * @throws {StoreError} when the record can't be read.
 */
export function findNotedDatabase(dataDir: string): string | undefined {
  try {
    return readFileSync(join(dataDir, NOTE), "utf8").trim();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new StoreError(`${join(dataDir, NOTE)} can't be read (${messageOf(cause)})`, cause);
  }
}
