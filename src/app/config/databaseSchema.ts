import { Type } from "typebox";
import type { ParameterViolation } from "../../lib/invalidParameter.ts";
import type { JsonValue } from "../../lib/parseJson.ts";
import { EXPECTED } from "../../lib/schemaErrors.ts";
import { isEmbedded } from "./embeddedNetworkSchema.ts";
import type { Members } from "./readConfigFile.ts";

const STRICT = { additionalProperties: false } as const;

/** Where the service's database is: its URL holds a password, so the file names the variable that holds it. */
export const DatabaseChoice = Type.Object(
  {
    url: Type.Object(
      {
        env: Type.String({
          pattern: "^[A-Za-z_][A-Za-z0-9_]*$",
          [EXPECTED]: "the name of a variable",
          description:
            "Variable of the environment that holds the URL, `postgres://user:password@host:port/database`.",
        }),
      },
      {
        ...STRICT,
        [EXPECTED]: 'an object with env, such as {"env": "DATABASE_URL"}',
        description: "Where the URL is: it may hold a password.",
      },
    ),
  },
  {
    ...STRICT,
    [EXPECTED]: 'an object with url, such as {"url": {"env": "DATABASE_URL"}}',
    description:
      "A database of PostgreSQL 15 to 18 for a service whose networks all have nodes of their own. Default: a file of SQLite in the data directory, as an oracle process always has.",
  },
);

/** Refuses a database apart from chains that belong to it: those are in the data directory, and go back and forth with it. */
export function checkDatabase({ database, networks }: Members): ParameterViolation[] {
  if (database === undefined) return [];
  const isObject = typeof networks === "object" && networks !== null && !Array.isArray(networks);
  const embedded = isObject
    ? Object.keys(networks).find((name) => isEmbedded((networks as Record<string, JsonValue>)[name]))
    : undefined;
  if (networks !== undefined && embedded === undefined) return [];
  const message = `is for networks with nodes of their own, and ${embedded ?? "each default network"} is embedded: its chain is kept in the data directory, together with a database of SQLite`;
  return [{ path: "/database", message }];
}
