import type { DatabaseServer } from "../../dapps/openDatabase.ts";
import type { Config } from "../config/configSchema.ts";
import { StartError } from "../startError.ts";

/**
 * Finds the server that the configuration names. Deletes the variable, because no child process needs it.
 *
 * @throws {StartError} when the variable isn't set.
 */
export function findDatabaseServer(
  database: Config["database"],
  environment: Record<string, string | undefined>,
): DatabaseServer | undefined {
  if (database === undefined) return undefined;
  const variable = database.url.env;
  const url = environment[variable]?.trim();
  if (!url) throw new StartError(`${variable}, which holds the URL of the database, is not set`);
  delete environment[variable];
  return { url, variable };
}
