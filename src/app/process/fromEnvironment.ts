import type { DatabaseServer } from "../../store/openDatabase.ts";
import { createIdentityProvider, type IdentityProvider } from "../../people/identityProvider.ts";
import type { Config } from "../../config/configSchema.ts";
import { StartError } from "../startError.ts";

/**
 * Creates the provider by which people sign in, if the configuration names one.
 *
 * @throws {StartError} when the variable with the client's secret isn't set.
 */
export function openIdentityProvider(
  { identityProvider }: Config,
  publicUrl: string | undefined,
  environment: Record<string, string | undefined>,
): IdentityProvider | undefined {
  if (identityProvider === undefined) return undefined;
  const { clientSecret, ...known } = identityProvider;
  return createIdentityProvider({
    ...known,
    clientSecret:
      clientSecret && takeVariable(clientSecret.env, environment, `the secret of ${known.clientId}`),
    redirectUri: `${publicUrl}/sign-in/provider`,
  });
}

/**
 * Finds the server that the configuration names.
 *
 * @throws {StartError} when the variable isn't set.
 */
export function findDatabaseServer(
  database: Config["database"],
  environment: Record<string, string | undefined>,
): DatabaseServer | undefined {
  if (database === undefined) return undefined;
  const variable = database.url.env;
  return { url: takeVariable(variable, environment, "the URL of the database"), variable };
}

/** Returns the value of a variable, and deletes it, because no child process needs it. Throws {@link StartError} if it isn't set. */
function takeVariable(
  variable: string,
  environment: Record<string, string | undefined>,
  held: string,
): string {
  const value = environment[variable]?.trim();
  if (!value) throw new StartError(`${variable}, which holds ${held}, is not set`);
  delete environment[variable];
  return value;
}
