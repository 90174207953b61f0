import { MAX_NAME_CHARACTERS, parseName } from "../domain/names.ts";
import { createId } from "../domain/id.ts";
import { TycheError } from "../lib/errors.ts";
import { lockAll } from "../store/dapps.ts";
import { addIdentity, addPerson, findByIdentity } from "../store/people.ts";
import type { SignInParts } from "./audit.ts";
import type { Identity } from "./identityProvider.ts";
import { joinByInvitation } from "./invitations.ts";
import { openSession } from "./sessions.ts";

/** Creates signing in at an OpenID provider. */
export function createProviderSignIn({ store, now, audit }: SignInParts) {
  return {
    /**
     * Signs in the person with this identity at a provider; returns the session's secret. With an invitation, whoever has none becomes a new
     * person, and whoever has one accepts it.
     *
     * @throws {TycheError} `sign_in_refused`
     */
    async signInAs(
      { issuer, subject, name }: Identity,
      { code, browser }: { readonly code: string | undefined; readonly browser: string },
    ): Promise<string> {
      return await store.write(async (db) => {
        await lockAll(db);
        const known = await findByIdentity(db, { issuer, subject });
        if (known === undefined && code === undefined)
          throw new TycheError(
            "You are not a member of a dapp here. Ask for an invitation, and open its link.",
            { code: "sign_in_refused", blame: "caller" },
          );
        const person = known ?? { id: createId("person"), name: readName(name) };
        if (code !== undefined) await joinByInvitation(db, { code, person }, { now, audit });
        if (known === undefined) {
          await addPerson(db, { ...person, created_at: now() });
          await addIdentity(db, { issuer, subject, person_id: person.id });
        }
        return await openSession(db, person, { browser, now, audit });
      });
    },
  };
}

/** Returns a provider's name of a person, shortened; "Unnamed" if it can't be one here, which keeps nobody out. */
function readName(given: string): string {
  try {
    return parseName(Array.from(given).slice(0, MAX_NAME_CHARACTERS).join(""));
  } catch {
    return "Unnamed";
  }
}
