import { createHash, randomBytes } from "node:crypto";
import { MAX_NAME_CHARACTERS, parseName, parseOptionalName } from "../dapps/dapps.ts";
import { ForbiddenError, NotFoundError, TycheError } from "../lib/errors.ts";
import { createId, firstId } from "../domain/id.ts";
import { roleAllows } from "../domain/operations.ts";
import { DAY_MS } from "../lib/time.ts";
import type { Role } from "../domain/vocabulary.ts";
import { lockAll } from "../store/dapps.ts";
import {
  deletePerson,
  findByIdentity,
  findInvitation,
  findPerson,
  findPersonSession,
  hasIdentity,
  listAudit,
  listInvitations,
  listMembers,
  listMemberships,
  listPasskeys,
  listPeople,
  listPersonSessions,
  saveMember,
  savePasskey,
  takeInvitation,
  type AuditRow,
  type StoredInvitation,
  type StoredPasskey,
  type StoredPerson,
} from "../store/people.ts";
import type { Store } from "../store/store.ts";
import type { Queryable } from "../store/queryable.ts";
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
import type { Identity } from "./identityProvider.ts";
import type { Caller } from "./roles.ts";

/** How long a person stays signed in without using the session. */
export const IDLE_MS = 30 * DAY_MS;
/** How long an invitation counts. */
const INVITATION_MS = 7 * DAY_MS;
/** Minimum interval between records of a session's use. */
const NOTED_EVERY_MS = 60_000;
/** How old a session may be that adds a passkey: an older one, which somebody else may have got hold of, must not outlast its end. */
const FRESH_MS = 10 * 60 * 1000;
const MAX_PASSKEYS = 10;
/** Enough to recognize a browser by. */
const MAX_BROWSER_CHARACTERS = 300;

/** Where a ceremony with a passkey takes place. */
export interface Ceremony {
  readonly party: RelyingParty;
  /** Secret of the challenge, which the browser keeps in a cookie; empty if it has none. */
  readonly challenge: string;
  /** What the browser calls itself. */
  readonly browser: string;
}

/** The people who sign in as themselves: their passkeys, sessions, memberships and invitations, and the audit log. */
export type People = ReturnType<typeof createPeople>;

/** Creates the use cases. */
export function createPeople(
  store: Store,
  options: {
    /** Days that an entry of the audit log is kept. Default: forever. */
    readonly auditDays?: number | undefined;
    /** Default: `Date.now`. */
    readonly now?: () => number;
  } = {},
) {
  const { auditDays, now = Date.now } = options;
  const auditing = createAuditing({ store, now, auditDays });
  return {
    ...auditing,
    ...createSignIn({ store, now, audit: auditing.audit }),
    ...createMembers({ store, now }),
    ...createSessions({ store, now }),
  };
}

interface Parts {
  readonly store: Store;
  readonly now: () => number;
}

type AuditEntry = Omit<AuditRow, "id" | "at" | "subject_name" | "changes"> &
  Partial<Pick<AuditRow, "subject_name" | "changes">>;

/** Who changed what. */
function createAuditing({ store, now, auditDays }: Parts & { readonly auditDays: number | undefined }) {
  /** Adds an entry, and deletes those that are too old; returns its id. */
  const audit = async (entry: AuditEntry, db: Queryable = store.db): Promise<string> => {
    if (auditDays !== undefined) {
      const first = firstId("aud", now() - auditDays * DAY_MS);
      await db.deleteFrom("audit").where("id", "<", first).execute();
    }
    const id = createId("aud", now());
    await db
      .insertInto("audit")
      .values({ id, at: now(), ...entry })
      .execute();
    return id;
  };
  return {
    audit,
    /** Adds to an entry what its operation was done to. */
    async completeAudit(
      id: string,
      found: Pick<AuditRow, "dapp_id" | "subject" | "subject_name" | "changes">,
    ): Promise<void> {
      await store.db.updateTable("audit").set(found).where("id", "=", id).execute();
    },
    /** Removes the entry of an operation that was refused. */
    async withdrawAudit(id: string): Promise<void> {
      await store.db.deleteFrom("audit").where("id", "=", id).execute();
    },
    auditLog: (page: Parameters<typeof listAudit>[1]) => listAudit(store.db, page),
  };
}

/** Signing in with a passkey, and accepting invitations. */
function createSignIn({
  store,
  now,
  audit,
}: Parts & { readonly audit: (entry: AuditEntry, db: Queryable) => Promise<unknown> }) {
  /** Consumes the challenge that a browser has the secret of. Only then can nobody else answer it, nor anybody twice. */
  const takeChallenge = async (secret: string): Promise<string> => {
    const id = challengeOf(secret).toString("base64url");
    const row = await store.db
      .deleteFrom("passkey_challenges")
      .where("id", "=", id)
      .where("expires_at", ">", now())
      .returning("id")
      .executeTakeFirst();
    if (row === undefined) throw new PasskeyRefusedError("this browser has no open challenge");
    return id;
  };
  const openSession = async (db: Queryable, personId: string, browser: string): Promise<string> => {
    const secret = randomBytes(32).toString("base64url");
    await db
      .deleteFrom("person_sessions")
      .where("last_used_at", "<=", now() - IDLE_MS)
      .execute();
    await db
      .insertInto("person_sessions")
      .values({
        id: hashSecret(secret),
        person_id: personId,
        browser: shorten(browser),
        created_at: now(),
        last_used_at: now(),
      })
      .execute();
    return secret;
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
    const row = { ...passkey, person_id: personId, browser: shorten(browser), created_at: now() };
    if (!(await savePasskey(db, row))) throw new PasskeyRefusedError("there is one with its id");
  };
  /** Consumes an invitation and makes the person a member, who keeps a higher role. */
  const join = async (db: Queryable, code: string, person: Pick<StoredPerson, "id" | "name">) => {
    const invitation = await takeInvitation(db, { hash: hashSecret(code) }, now());
    if (invitation === undefined) throw new InvitationRefusedError();
    const { dapp_id, role, id, name } = invitation;
    const from = (await listMemberships(db, person.id)).find((one) => one.dapp_id === dapp_id)?.role ?? null;
    const to = from !== null && roleAllows(from, role) ? from : role;
    await saveMember(db, { dappId: dapp_id, personId: person.id, role: to }, now());
    const changes = JSON.stringify([{ member: "role", from, to }]);
    await audit(
      {
        actor: person.id,
        actor_name: person.name,
        dapp_id,
        action: "acceptInvitation",
        subject: id,
        ...(name === "" ? {} : { subject_name: name }),
        changes,
      },
      db,
    );
    return dapp_id;
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
      await store.db.deleteFrom("passkey_challenges").where("expires_at", "<=", now()).execute();
      await store.db
        .insertInto("passkey_challenges")
        .values({ id: challenge.toString("base64url"), expires_at: now() + CHALLENGE_MS })
        .execute();
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
      const passkey =
        typeof id === "string"
          ? await store.db.selectFrom("passkeys").selectAll().where("id", "=", id).executeTakeFirst()
          : undefined;
      if (passkey === undefined) throw new PasskeyRefusedError("it belongs to nobody");
      const counter = await verifyPasskey(answer, passkey, expected);
      return await store.write(async (db) => {
        // A second sign-in with the same count would be a copy of the authenticator.
        const { numUpdatedRows } = await db
          .updateTable("passkeys")
          .set({ counter })
          .where("id", "=", passkey.id)
          .where("counter", "=", passkey.counter)
          .executeTakeFirst();
        const person = await findPerson(db, passkey.person_id);
        if (numUpdatedRows === 0n || person === undefined)
          throw new PasskeyRefusedError("it was used elsewhere just now");
        const secret = await openSession(db, person.id, browser);
        const subject = shownIdOf(hashSecret(secret));
        await audit(
          { actor: person.id, actor_name: person.name, dapp_id: null, action: "signIn", subject },
          db,
        );
        return secret;
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
        await join(db, code, person);
        await db
          .insertInto("people")
          .values({ ...person, is_operator: 0, created_at: now() })
          .execute();
        await addTo(db, { passkey, personId: person.id, browser });
        return await openSession(db, person.id, browser);
      });
    },
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
        if (code !== undefined) await join(db, code, person);
        if (known === undefined) {
          const row = { ...person, is_operator: 0, created_at: now() };
          await db.insertInto("people").values(row).execute();
          await db.insertInto("identities").values({ issuer, subject, person_id: person.id }).execute();
        }
        const secret = await openSession(db, person.id, browser);
        const entry = { dapp_id: null, action: "signIn", subject: shownIdOf(hashSecret(secret)) };
        await audit({ actor: person.id, actor_name: person.name, ...entry }, db);
        return secret;
      });
    },
    /**
     * Accepts an invitation as the person whose session it is.
     *
     * @throws {InvitationRefusedError} also if it is nobody's.
     */
    async accept(code: string, sessionId: string): Promise<void> {
      await store.write(async (db) => {
        const session = await findPersonSession(db, sessionId, now() - IDLE_MS);
        if (session === undefined) throw new InvitationRefusedError();
        await join(db, code, session.person);
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
  };
}

/** The members of dapps, and the invitations to become one. */
function createMembers({ store, now }: Parts) {
  /** Runs a change of people, one after another, and undoes it if a dapp or the service has lost its last owner or operator by it. */
  const change = <Changed>(work: (db: Queryable) => Promise<Changed>): Promise<Changed> =>
    store.write(async (db) => {
      await lockAll(db);
      const before = await findLed(db);
      const changed = await work(db);
      const after = await findLed(db);
      for (const where of before)
        if (!after.has(where))
          throw new ForbiddenError(
            where === "operator"
              ? "this is the only operator among the people: make another person an operator first"
              : `this is the only owner of ${where}: make another member an owner first`,
          );
      return changed;
    });
  const getMember = async (db: Queryable, dappId: string, personId: string) => {
    const member = (await listMembers(db, dappId)).find(({ id }) => id === personId);
    if (member === undefined) throw new NotFoundError(`member ${personId}`);
    return member;
  };
  /** Throws `not_found`. */
  const getPerson = async (db: Queryable, personId: string): Promise<StoredPerson> => {
    const person = await findPerson(db, personId);
    if (person === undefined) throw new NotFoundError(`person ${personId}`);
    return person;
  };

  return {
    members: (dappId: string) => listMembers(store.db, dappId),
    invitations: (dappId: string) => listInvitations(store.db, dappId, now()),
    /** Returns all people, each with their roles by dapp. */
    async list(): Promise<(StoredPerson & { readonly roles: ReadonlyMap<string, Role> })[]> {
      const memberships = await listMemberships(store.db);
      return (await listPeople(store.db)).map((person) => ({
        ...person,
        roles: new Map(
          memberships
            .filter(({ person_id }) => person_id === person.id)
            .map(({ dapp_id, role }) => [dapp_id, role]),
        ),
      }));
    },
    /**
     * Creates an invitation; its code is known to nobody after this.
     *
     * @param who `name`: whom it is for, `invitedBy`: name of the person who invites, empty for the operator. Default: both empty.
     * @throws InvalidParameterError for a name.
     */
    async invite(
      dappId: string,
      role: Role,
      { name = "", invitedBy = "" }: { readonly name?: string; readonly invitedBy?: string } = {},
    ): Promise<{ readonly code: string; readonly invitation: StoredInvitation }> {
      const code = randomBytes(32).toString("base64url");
      const at = now();
      const invitation = {
        id: createId("inv"),
        dapp_id: dappId,
        role,
        name: parseOptionalName(name),
        hash: hashSecret(code),
        invited_by: invitedBy,
        created_at: at,
        expires_at: at + INVITATION_MS,
      };
      await store.write(async (db) => {
        await db.deleteFrom("invitations").where("expires_at", "<=", at).execute();
        await db.insertInto("invitations").values(invitation).execute();
      });
      return { code, invitation };
    },
    /** Throws `not_found`. */
    async revokeInvitation(dappId: string, id: string): Promise<StoredInvitation> {
      const taken = await store.write((db) => takeInvitation(db, { id, dapp_id: dappId }, now()));
      if (taken === undefined) throw new NotFoundError(`open invitation ${id}`);
      return taken;
    },
    /**
     * Gives a member another role; `undefined` removes them. Returns the member as before. Throws `not_found`, and `forbidden` if nobody would be left.
     */
    changeMember: (dappId: string, personId: string, role: Role | undefined) =>
      change(async (db) => {
        const before = await getMember(db, dappId, personId);
        await saveMember(db, { dappId, personId, role }, now());
        return before;
      }),
    /** Makes a person an operator, or ends that. Throws `not_found`, and `forbidden` if nobody would be left. */
    async setOperator(personId: string, isOperator: boolean): Promise<void> {
      await change(async (db) => {
        await getPerson(db, personId);
        await db
          .updateTable("people")
          .set({ is_operator: isOperator ? 1 : 0 })
          .where("id", "=", personId)
          .execute();
      });
    },
    /** Deletes a person with passkeys, memberships and sessions. Throws `not_found`, and `forbidden` if nobody would be left. */
    async remove(personId: string): Promise<void> {
      await change(async (db) => {
        await getPerson(db, personId);
        await deletePerson(db, personId);
      });
    },
  };
}

/** The sessions of people who are signed in, and the passkeys that they have. */
function createSessions({ store, now }: Parts) {
  const since = (): number => now() - IDLE_MS;
  return {
    /** Returns who makes a call in a session; `undefined` if nobody does. */
    async findCaller(id: string): Promise<Caller | undefined> {
      const session = await findPersonSession(store.db, id, since());
      if (session === undefined) return undefined;
      const { person, last_used_at } = session;
      const at = now();
      if (at - last_used_at > NOTED_EVERY_MS)
        await store.db
          .updateTable("person_sessions")
          .set({ last_used_at: at })
          .where("id", "=", id)
          .execute();
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
      await store.db.deleteFrom("person_sessions").where("id", "=", session.id).execute();
    },
    /** Ends the session with this id, if there is one. */
    async signOut(id: string): Promise<void> {
      await store.db.deleteFrom("person_sessions").where("id", "=", id).execute();
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
        await db.deleteFrom("passkeys").where("id", "=", id).execute();
        for (const session of await listPersonSessions(db, 0, personId))
          if (shownIdOf(session.id) !== person.sessionId)
            await db.deleteFrom("person_sessions").where("id", "=", session.id).execute();
        return removed;
      });
    },
  };
}

/** Returns the id that is stored in place of a secret. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** What a passkey signs for a browser: only who has the secret can have it checked. */
function challengeOf(secret: string): Buffer {
  return createHash("sha256").update(`challenge ${secret}`).digest();
}

/** Returns a provider's name of a person, shortened; "Unnamed" if it can't be one here, which keeps nobody out. */
function readName(given: string): string {
  try {
    return parseName(Array.from(given).slice(0, MAX_NAME_CHARACTERS).join(""));
  } catch {
    return "Unnamed";
  }
}

function shorten(browser: string): string {
  return browser.slice(0, MAX_BROWSER_CHARACTERS);
}

/** A session's name in lists: its id is half of its token. */
export function shownIdOf(id: string): string {
  return `session_${id.slice(0, 12)}`;
}

/** Returns the dapps that have an owner, and "operator" if there is a person who is one. */
async function findLed(db: Queryable): Promise<ReadonlySet<string>> {
  const owners = (await listMemberships(db)).filter(({ role }) => role === "owner");
  const hasOperator = (await listPeople(db)).some(({ is_operator }) => is_operator === 1);
  return new Set([...owners.map(({ dapp_id }) => dapp_id), ...(hasOperator ? ["operator"] : [])]);
}

/** An invitation was used, revoked, is over, or never was. */
export class InvitationRefusedError extends TycheError {
  constructor() {
    super("This invitation has been used or revoked, or its seven days are over. Ask for a new one.", {
      code: "sign_in_refused",
      blame: "caller",
    });
  }
}
