import { PROFILE_NAMES } from "../../networks/profiles.ts";
import { StartError } from "../startError.ts";

/**
 * Rejects unknown names in the list of networks whose chain may be newer than the database.
 *
 * @throws {StartError}
 */
export function assertAccepted(accepted: readonly string[], networkNames: readonly string[]): void {
  const stranger = accepted.find((name) => !PROFILE_NAMES.includes(name) && !networkNames.includes(name));
  if (stranger !== undefined)
    throw new StartError(
      `TYCHE_ACCEPT_CHAINS: ${JSON.stringify(stranger)} is not a network; name one or more of ${networkNames.join(", ")}`,
    );
}
