import { isObject } from "../lib/isObject.ts";
import { Type } from "typebox";
import type { ParameterViolation } from "../lib/invalidParameter.ts";
import type { JsonValue } from "../lib/parseJson.ts";
import { EXPECTED } from "../lib/schemaCheck.ts";
import { isEmbedded } from "./embeddedNetworkSchema.ts";
import { STRICT, variableName } from "./schemaParts.ts";
import type { Members } from "./readConfigFile.ts";

/** The service's database. Its URL contains a password, so the file names the variable that holds the URL. */
export const DatabaseChoice = Type.Object(
  {
    url: Type.Object(
      {
        env: variableName(
          "Environment variable that holds the URL, `postgres://user:password@host:port/database`.",
        ),
      },
      {
        ...STRICT,
        [EXPECTED]: 'an object with env, such as {"env": "DATABASE_URL"}',
        description: "Where to read the URL, which may contain a password.",
      },
    ),
  },
  {
    ...STRICT,
    [EXPECTED]: 'an object with url, such as {"url": {"env": "DATABASE_URL"}}',
    description:
      "A PostgreSQL 15 to 18 database, for a service without embedded networks. Default: an SQLite file in the data directory; an oracle process always uses that.",
  },
);

/**
 * Rejects a separate database in combination with embedded chains: their state is in the data directory and must be saved and
 * restored together with the database.
 */
export function checkDatabaseChoice({ database, networks }: Members): ParameterViolation[] {
  if (database === undefined) return [];
  const embedded = isObject(networks)
    ? Object.keys(networks).find((name) => isEmbedded((networks as Record<string, JsonValue>)[name]))
    : undefined;
  if (networks !== undefined && embedded === undefined) return [];
  const message = `is only for services without embedded networks, and ${embedded ?? "each default network"} is embedded: its chain is kept in the data directory, together with an SQLite database`;
  return [{ path: "/database", message }];
}
