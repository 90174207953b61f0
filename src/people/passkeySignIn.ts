import { createHash, randomBytes } from "node:crypto";
import { parseName } from "../domain/names.ts";
import { createId } from "../domain/id.ts";
import { ForbiddenError, NotFoundError, TycheError } from "../lib/errors.ts";
import { lockAll } from "../store/dapps.ts";
import {
  addChallenge,
  addPerson,
  countPasskey,
  deleteChallenge,
  deletePasskey,
  deletePersonSession,
  findInvitation,
  findPasskey,
  findPerson,
  findPersonSession,
  hasIdentity,
  listPasskeys,
  listPersonSessions,
  savePasskey,
  type StoredPasskey,
  type StoredPerson,
} from "../store/people.ts";
import type { Queryable } from "../store/queryable.ts";
import type { SignInParts } from "./audit.ts";
import { InvitationRefusedError, joinByInvitation } from "./invitations.ts";
import {
  CHALLENGE_MS,
  offerAuthentication,
  offerRegistration,
  PasskeyRefusedError,
  verifyNewPasskey,
  verifyPasskey,
  type NewPasskey,
  type RelyingParty,
} from "./passkeys.ts";
import type { Caller } from "./roles.ts";
import { hashSecret, IDLE_MS, openSession, shortenBrowser, shownIdOf } from "./sessions.ts";

/** How old a session may be that adds a passkey: an older one, which somebody else may have got hold of, must not outlast its end. */
const FRESH_MS = 10 * 60 * 1000;
const MAX_PASSKEYS = 10;

/** Where a ceremony with a passkey takes place. */
export interface Ceremony {
  readonly party: RelyingParty;
  /** Secret of the challenge, which the browser keeps in a cookie; empty if it has none. */
  readonly challenge: string;
  /** What the browser calls itself. */
  readonly browser: string;
}

/** Creates signing in with a passkey, by challenges that a browser has signed. */
export function createPasskeySignIn({ store, now, audit }: SignInParts) {
  /** Consumes the challenge that a browser has the secret of. Only then can nobody else answer it, nor anybody twice. */
  const takeChallenge = async (secret: string): Promise<string> => {
    const id = challengeOf(secret).toString("base64url");
    if (!(await deleteChallenge(store.db, id, now())))
      throw new PasskeyRefusedError("this browser has no open challenge");
    return id;
  };
  /** Finds whose session it is. Throws `sign_in_refused` if it isn't a person's, or was not opened just now. */
  const getFresh = async (db: Queryable, sessionId: string): Promise<StoredPerson> => {
    const session = await findPersonSession(db, sessionId, now() - IDLE_MS);
    if (session === undefined || session.created_at <= now() - FRESH_MS)
      throw new TycheError(
        "Sign in with your passkey again: a session adds a passkey in its first ten minutes.",
        { code: "sign_in_refused", blame: "caller" },
      );
    return session.person;
  };
  /** Stores a new passkey of a person. */
  const addTo = async (
    db: Queryable,
    { passkey, personId, browser }: { passkey: NewPasskey; personId: string; browser: string },
  ): Promise<void> => {
    const row = { ...passkey, person_id: personId, browser: shortenBrowser(browser), created_at: now() };
    if (!(await savePasskey(db, row))) throw new PasskeyRefusedError("there is one with its id");
  };

  return {
    /**
     * Creates a challenge for a passkey; for a new one with an invitation, or with the session of a person who adds one.
     *
     * @returns its secret, for the browser's cookie, and what the browser is to be told.
     * @throws {TycheError} `sign_in_refused` for such an invitation or an old session, `forbidden` if the person has the most passkeys.
     */
    async challenge(
      party: RelyingParty,
      {
        code,
        sessionId,
      }: { readonly code?: string | undefined; readonly sessionId?: string | undefined } = {},
    ) {
      const invitation =
        code === undefined ? undefined : await findInvitation(store.db, hashSecret(code), now());
      if (code !== undefined && invitation === undefined) throw new InvitationRefusedError();
      const person = sessionId === undefined ? undefined : await getFresh(store.db, sessionId);
      const own = person === undefined ? [] : await listPasskeys(store.db, person.id);
      if (own.length >= MAX_PASSKEYS) throw new ForbiddenError(`you have ${MAX_PASSKEYS} passkeys`);
      const secret = randomBytes(32).toString("base64url");
      const challenge = challengeOf(secret);
      const id = challenge.toString("base64url");
      await addChallenge(store.db, { id, expires_at: now() + CHALLENGE_MS }, now());
      const bytes = new Uint8Array(challenge);
      const options =
        invitation === undefined && person === undefined
          ? await offerAuthentication(party, bytes)
          : await offerRegistration(party, bytes, { name: person?.name, own: own.map(({ id }) => id) });
      if (invitation === undefined) return { secret, data: { options } };
      const { dapp_id: dappId, dapp_name: dappName, role, invited_by: invitedBy, expires_at } = invitation;
      const shown = { dappId, dappName, role, invitedBy, expiresAt: new Date(expires_at).toISOString() };
      return { secret, data: { options, invitation: shown } };
    },
    /**
     * Signs a person in with a passkey; returns the session's secret.
     *
     * @throws {PasskeyRefusedError}
     */
    async signIn(answer: object, { party, challenge, browser }: Ceremony): Promise<string> {
      const expected = { party, challenge: await takeChallenge(challenge) };
      const { id } = answer as { readonly id?: unknown };
      const passkey = typeof id === "string" ? await findPasskey(store.db, id) : undefined;
      if (passkey === undefined) throw new PasskeyRefusedError("it belongs to nobody");
      const counter = await verifyPasskey(answer, passkey, expected);
      return await store.write(async (db) => {
        // A second sign-in with the same count would be a copy of the authenticator.
        const isFirst = await countPasskey(db, passkey, counter);
        const person = await findPerson(db, passkey.person_id);
        if (!isFirst || person === undefined) throw new PasskeyRefusedError("it was used elsewhere just now");
        return await openSession(db, person, { browser, now, audit });
      });
    },
    /**
     * Accepts an invitation as a new person with a new passkey; returns the session's secret.
     *
     * @throws {InvitationRefusedError} {@link PasskeyRefusedError}, or `invalid_parameter` for a name.
     */
    async signUp(
      {
        code,
        name: given,
        answer,
      }: { readonly code: string; readonly name: string; readonly answer: object },
      { party, challenge, browser }: Ceremony,
    ): Promise<string> {
      const name = parseName(given);
      const expected = { party, challenge: await takeChallenge(challenge) };
      const passkey = await verifyNewPasskey(answer, expected);
      const person = { id: createId("person"), name };
      return await store.write(async (db) => {
        await joinByInvitation(db, { code, person }, { now, audit });
        await addPerson(db, { ...person, created_at: now() });
        await addTo(db, { passkey, personId: person.id, browser });
        return await openSession(db, person, { browser, now });
      });
    },
    /**
     * Adds a passkey to the person whose session it is.
     *
     * @throws {TycheError} `sign_in_refused`; {@link PasskeyRefusedError}
     */
    async addPasskey(
      { answer, sessionId }: { readonly answer: object; readonly sessionId: string },
      { party, challenge, browser }: Ceremony,
    ): Promise<void> {
      const expected = { party, challenge: await takeChallenge(challenge) };
      const passkey = await verifyNewPasskey(answer, expected);
      await store.write(async (db) => {
        const { id, name } = await getFresh(db, sessionId);
        await addTo(db, { passkey, personId: id, browser });
        await audit(
          { actor: id, actor_name: name, dapp_id: null, action: "addPasskey", subject: passkey.id },
          db,
        );
      });
    },
    passkeys: (personId: string) => listPasskeys(store.db, personId),
    /**
     * Removes a passkey of a person, and ends the person's sessions but this one: they may be in the device that is lost. Throws `not_found`,
     * and `forbidden` for the last one.
     */
    async removePasskey({ id: personId, person }: Caller, id: string): Promise<StoredPasskey> {
      return await store.write(async (db) => {
        await lockAll(db);
        const own = await listPasskeys(db, personId);
        const removed = own.find((passkey) => passkey.id === id);
        if (removed === undefined || person === undefined) throw new NotFoundError(`passkey ${id}`);
        if (own.length === 1 && !(await hasIdentity(db, personId)))
          throw new ForbiddenError("it is your only passkey: add another first");
        await deletePasskey(db, id);
        for (const session of await listPersonSessions(db, 0, personId))
          if (shownIdOf(session.id) !== person.sessionId) await deletePersonSession(db, session.id);
        return removed;
      });
    },
  };
}

/** What a passkey signs for a browser: only who has the secret can have it checked. */
function challengeOf(secret: string): Buffer {
  return createHash("sha256").update(`challenge ${secret}`).digest();
}
