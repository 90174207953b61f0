import { createHash, randomBytes } from "node:crypto";
import { NotFoundError } from "../lib/errors.ts";
import { DAY_MS } from "../lib/time.ts";
import {
  addPersonSession,
  deletePersonSession,
  findPersonSession,
  listMemberships,
  listPersonSessions,
  notePersonSession,
} from "../store/people.ts";
import type { Queryable } from "../store/queryable.ts";
import type { Store } from "../store/store.ts";
import type { Audit } from "./audit.ts";
import type { Caller } from "./roles.ts";

/** How long a person stays signed in without using the session. */
export const IDLE_MS = 30 * DAY_MS;
/** Minimum interval between records of a session's use. */
const NOTED_EVERY_MS = 60_000;
/** Enough to recognize a browser by. */
const MAX_BROWSER_CHARACTERS = 300;

/** Creates the sessions of people who are signed in. */
export function createSessions({ store, now }: { readonly store: Store; readonly now: () => number }) {
  const since = (): number => now() - IDLE_MS;
  return {
    /** Returns who makes a call in a session; `undefined` if nobody does. */
    async findCaller(id: string): Promise<Caller | undefined> {
      const session = await findPersonSession(store.db, id, since());
      if (session === undefined) return undefined;
      const { person, last_used_at } = session;
      const at = now();
      if (at - last_used_at > NOTED_EVERY_MS) await notePersonSession(store.db, id, at);
      const memberships = await listMemberships(store.db, person.id);
      return {
        id: person.id,
        isOperator: person.is_operator === 1,
        person: {
          name: person.name,
          sessionId: shownIdOf(id),
          roles: new Map(memberships.map(({ dapp_id, role }) => [dapp_id, role])),
        },
      };
    },
    /** Returns the sessions of a person, or of all, last used first. */
    sessions: async (personId: string | undefined) =>
      (await listPersonSessions(store.db, since(), personId)).map((session) => ({
        ...session,
        id: shownIdOf(session.id),
      })),
    /** Ends a session, of a person if one is given. Throws `not_found`. */
    async endSession(shownId: string, personId: string | undefined): Promise<void> {
      const session = (await listPersonSessions(store.db, since(), personId)).find(
        ({ id }) => shownIdOf(id) === shownId,
      );
      if (session === undefined) throw new NotFoundError(`session ${shownId}`);
      await deletePersonSession(store.db, session.id);
    },
    /** Ends the session with this id, if there is one. */
    signOut: (id: string) => deletePersonSession(store.db, id),
  };
}

/**
 * Opens a person's session; returns its secret.
 *
 * @param options.audit notes that the person signed in. Default: nothing is noted, as of a new person, who is noted as a member.
 */
export async function openSession(
  db: Queryable,
  person: { readonly id: string; readonly name: string },
  { browser, now, audit }: { readonly browser: string; readonly now: () => number; readonly audit?: Audit },
): Promise<string> {
  const secret = randomBytes(32).toString("base64url");
  const id = hashSecret(secret);
  const row = { id, person_id: person.id, browser: shortenBrowser(browser) };
  await addPersonSession(db, { ...row, created_at: now(), last_used_at: now() }, now() - IDLE_MS);
  const entry = { dapp_id: null, action: "signIn", subject: shownIdOf(id) };
  await audit?.({ actor: person.id, actor_name: person.name, ...entry }, db);
  return secret;
}

/** Returns the id that is stored in place of a secret. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** Returns what a browser calls itself, shortened. */
export function shortenBrowser(browser: string): string {
  return browser.slice(0, MAX_BROWSER_CHARACTERS);
}

/** A session's name in lists: its id is half of its token. */
export function shownIdOf(id: string): string {
  return `session_${id.slice(0, 12)}`;
}
