import type { Insertable, Selectable } from "kysely";
import type { Role } from "../domain/vocabulary.ts";
import type { Queryable } from "./queryable.ts";
import type { Tables } from "./schema.ts";
import type { Store } from "./store.ts";

export type StoredPerson = Selectable<Tables["people"]>;
export type StoredPasskey = Selectable<Tables["passkeys"]>;
export type StoredInvitation = Selectable<Tables["invitations"]>;
export type StoredPersonSession = Selectable<Tables["person_sessions"]>;
export type AuditRow = Selectable<Tables["audit"]>;

/** Returns all people, oldest first. */
export async function listPeople(db: Queryable): Promise<StoredPerson[]> {
  return await db.selectFrom("people").selectAll().orderBy("id").execute();
}

/** Finds a person. */
export async function findPerson(db: Queryable, id: string): Promise<StoredPerson | undefined> {
  return await db.selectFrom("people").selectAll().where("id", "=", id).executeTakeFirst();
}

/** Adds a person, who is no operator. */
export async function addPerson(
  db: Queryable,
  person: Pick<StoredPerson, "id" | "name" | "created_at">,
): Promise<void> {
  const { id, name, created_at } = person;
  await db.insertInto("people").values({ id, name, is_operator: 0, created_at }).execute();
}

/** Makes a person an operator, or ends that. */
export async function saveOperator(db: Queryable, id: string, isOperator: boolean): Promise<void> {
  const is_operator = isOperator ? 1 : 0;
  await db.updateTable("people").set({ is_operator }).where("id", "=", id).execute();
}

/** Stores by which identity at an OpenID provider a person is known. */
export async function addIdentity(db: Queryable, identity: Tables["identities"]): Promise<void> {
  await db.insertInto("identities").values(identity).execute();
}

/** Finds the person who has an identity at an OpenID provider. */
export async function findByIdentity(
  db: Queryable,
  { issuer, subject }: { readonly issuer: string; readonly subject: string },
): Promise<StoredPerson | undefined> {
  return await db
    .selectFrom("identities")
    .innerJoin("people", "people.id", "identities.person_id")
    .selectAll("people")
    .where("issuer", "=", issuer)
    .where("subject", "=", subject)
    .executeTakeFirst();
}

/** Whether a person can sign in at an OpenID provider. */
export async function hasIdentity(db: Queryable, personId: string): Promise<boolean> {
  const query = db.selectFrom("identities").select("person_id").where("person_id", "=", personId);
  return (await query.executeTakeFirst()) !== undefined;
}

/** Returns the passkeys of a person, oldest first. */
export async function listPasskeys(db: Queryable, personId: string): Promise<StoredPasskey[]> {
  return await db
    .selectFrom("passkeys")
    .selectAll()
    .where("person_id", "=", personId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
}

/** Stores a challenge, and deletes those that are over at `now` (ms). */
export async function addChallenge(
  db: Queryable,
  challenge: Tables["passkey_challenges"],
  now: number,
): Promise<void> {
  await db.deleteFrom("passkey_challenges").where("expires_at", "<=", now).execute();
  await db.insertInto("passkey_challenges").values(challenge).execute();
}

/** Deletes a challenge; returns whether it was open, which only one caller is told. */
export async function deleteChallenge(db: Queryable, id: string, now: number): Promise<boolean> {
  const query = db.deleteFrom("passkey_challenges").where("id", "=", id).where("expires_at", ">", now);
  return (await query.executeTakeFirst()).numDeletedRows > 0n;
}

/** Finds a passkey. */
export async function findPasskey(db: Queryable, id: string): Promise<StoredPasskey | undefined> {
  return await db.selectFrom("passkeys").selectAll().where("id", "=", id).executeTakeFirst();
}

/** Stores how often a passkey was used; returns false if it was used since it was read. */
export async function countPasskey(
  db: Queryable,
  { id, counter: before }: StoredPasskey,
  counter: number,
): Promise<boolean> {
  const query = db.updateTable("passkeys").set({ counter }).where("id", "=", id);
  return (await query.where("counter", "=", before).executeTakeFirst()).numUpdatedRows > 0n;
}

/** Deletes a passkey. */
export async function deletePasskey(db: Queryable, id: string): Promise<void> {
  await db.deleteFrom("passkeys").where("id", "=", id).execute();
}

/** Stores a passkey; returns false if there is one with its id. */
export async function savePasskey(db: Queryable, passkey: StoredPasskey): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto("passkeys")
    .values(passkey)
    .onConflict((on) => on.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows !== 0n;
}

/** Returns the memberships of a person, or of all people. */
export async function listMemberships(
  db: Queryable,
  personId?: string,
): Promise<Selectable<Tables["members"]>[]> {
  let query = db.selectFrom("members").selectAll();
  if (personId !== undefined) query = query.where("person_id", "=", personId);
  return await query.orderBy("dapp_id").execute();
}

/** Returns the members of a dapp, in the order in which they joined. */
export async function listMembers(
  db: Queryable,
  dappId: string,
): Promise<{ id: string; name: string; role: Role; created_at: number }[]> {
  return await db
    .selectFrom("members")
    .innerJoin("people", "people.id", "members.person_id")
    .select(["people.id", "people.name", "members.role", "members.created_at"])
    .where("members.dapp_id", "=", dappId)
    .orderBy("members.created_at")
    .orderBy("people.id")
    .execute();
}

/** Makes a person a member, or changes the role of one who is; `undefined` ends the membership. */
export async function saveMember(
  db: Queryable,
  member: { readonly dappId: string; readonly personId: string; readonly role: Role | undefined },
  now: number,
): Promise<void> {
  const { dappId, personId, role } = member;
  if (role === undefined)
    await db.deleteFrom("members").where("dapp_id", "=", dappId).where("person_id", "=", personId).execute();
  else
    await db
      .insertInto("members")
      .values({ dapp_id: dappId, person_id: personId, role, created_at: now })
      .onConflict((on) => on.columns(["dapp_id", "person_id"]).doUpdateSet({ role }))
      .execute();
}

/** Deletes the members of a dapp, and the invitations to it. */
export async function deleteMembersOf(db: Queryable, dappId: string): Promise<void> {
  await db.deleteFrom("members").where("dapp_id", "=", dappId).execute();
  await db.deleteFrom("invitations").where("dapp_id", "=", dappId).execute();
}

/** Deletes a person with all that they sign in with. */
export async function deletePerson(db: Queryable, personId: string): Promise<void> {
  for (const table of ["passkeys", "identities", "members", "person_sessions"] as const)
    await db.deleteFrom(table).where("person_id", "=", personId).execute();
  await db.deleteFrom("people").where("id", "=", personId).execute();
}

/** Stores an invitation, and deletes those that are over at `now` (ms). */
export async function addInvitation(db: Queryable, invitation: StoredInvitation, now: number): Promise<void> {
  await db.deleteFrom("invitations").where("expires_at", "<=", now).execute();
  await db.insertInto("invitations").values(invitation).execute();
}

/** Returns the invitations to a dapp that are still open, oldest first. */
export async function listInvitations(
  db: Queryable,
  dappId: string,
  now: number,
): Promise<StoredInvitation[]> {
  return await db
    .selectFrom("invitations")
    .selectAll()
    .where("dapp_id", "=", dappId)
    .where("expires_at", ">", now)
    .orderBy("id")
    .execute();
}

/** Finds an open invitation by the hash of its code, with the name of its dapp. */
export async function findInvitation(
  db: Queryable,
  hash: string,
  now: number,
): Promise<(StoredInvitation & { readonly dapp_name: string }) | undefined> {
  return await db
    .selectFrom("invitations")
    .innerJoin("dapps", "dapps.id", "invitations.dapp_id")
    .selectAll("invitations")
    .select("dapps.name as dapp_name")
    .where("hash", "=", hash)
    .where("expires_at", ">", now)
    .executeTakeFirst();
}

/** Deletes an open invitation, by which nobody else can use it; returns it. */
export async function takeInvitation(
  db: Queryable,
  which: { readonly hash: string } | { readonly id: string; readonly dapp_id: string },
  now: number,
): Promise<StoredInvitation | undefined> {
  let query = db.deleteFrom("invitations").where("expires_at", ">", now);
  if ("hash" in which) query = query.where("hash", "=", which.hash);
  else query = query.where("id", "=", which.id).where("dapp_id", "=", which.dapp_id);
  return await query.returningAll().executeTakeFirst();
}

/** Stores a session, and deletes those not used since `since` (Unix time in ms). */
export async function addPersonSession(
  db: Queryable,
  session: StoredPersonSession,
  since: number,
): Promise<void> {
  await db.deleteFrom("person_sessions").where("last_used_at", "<=", since).execute();
  await db.insertInto("person_sessions").values(session).execute();
}

/** Notes that a session is used at `now` (ms). */
export async function notePersonSession(db: Queryable, id: string, now: number): Promise<void> {
  await db.updateTable("person_sessions").set({ last_used_at: now }).where("id", "=", id).execute();
}

/** Ends a session. */
export async function deletePersonSession(db: Queryable, id: string): Promise<void> {
  await db.deleteFrom("person_sessions").where("id", "=", id).execute();
}

/** Finds a session that was used since `since` (ms), with whose it is. */
export async function findPersonSession(
  db: Queryable,
  id: string,
  since: number,
): Promise<{ person: StoredPerson; created_at: number; last_used_at: number } | undefined> {
  const row = await db
    .selectFrom("person_sessions")
    .innerJoin("people", "people.id", "person_sessions.person_id")
    .selectAll("people")
    .select(["person_sessions.created_at as opened_at", "person_sessions.last_used_at"])
    .where("person_sessions.id", "=", id)
    .where("person_sessions.last_used_at", ">", since)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { opened_at, last_used_at, ...person } = row;
  return { person, created_at: opened_at, last_used_at };
}

/** Returns the sessions used since `since` (ms), of a person or of all, with their people's names; last used first. */
export async function listPersonSessions(
  db: Queryable,
  since: number,
  personId?: string,
): Promise<(StoredPersonSession & { name: string })[]> {
  let query = db
    .selectFrom("person_sessions")
    .innerJoin("people", "people.id", "person_sessions.person_id")
    .selectAll("person_sessions")
    .select("people.name")
    .where("person_sessions.last_used_at", ">", since);
  if (personId !== undefined) query = query.where("person_sessions.person_id", "=", personId);
  return await query.orderBy("person_sessions.last_used_at", "desc").execute();
}

/** Adds an entry to the audit log. */
export async function addAuditEntry(db: Queryable, entry: Insertable<Tables["audit"]>): Promise<void> {
  await db.insertInto("audit").values(entry).execute();
}

/** Adds to an entry of the audit log what its operation was done to. */
export async function completeAuditEntry(
  db: Queryable,
  id: string,
  found: Pick<AuditRow, "dapp_id" | "subject" | "subject_name" | "changes">,
): Promise<void> {
  await db.updateTable("audit").set(found).where("id", "=", id).execute();
}

/** Deletes an entry of the audit log. */
export async function deleteAuditEntry(db: Queryable, id: string): Promise<void> {
  await db.deleteFrom("audit").where("id", "=", id).execute();
}

/** Deletes the entries of the audit log before an id. */
export async function deleteAuditEntries(db: Queryable, before: string): Promise<void> {
  await db.deleteFrom("audit").where("id", "<", before).execute();
}

/** Returns the newest entries of the audit log before an entry; of one dapp, one actor, or one action, as far as they are given. */
export async function listAudit(
  db: Queryable,
  page: {
    readonly dappId: string | undefined;
    readonly actor: string | undefined;
    readonly action: string | undefined;
    readonly before: string | undefined;
    readonly limit: number;
  },
): Promise<AuditRow[]> {
  let query = db.selectFrom("audit").selectAll();
  if (page.dappId !== undefined) query = query.where("dapp_id", "=", page.dappId);
  if (page.actor !== undefined) query = query.where("actor", "=", page.actor);
  if (page.action !== undefined) query = query.where("action", "=", page.action);
  if (page.before !== undefined) query = query.where("id", "<", page.before);
  return await query.orderBy("id", "desc").limit(page.limit).execute();
}

/** Stores a session that ends at `endsAt` (ms). If that makes more than `most`, those that end first are removed; so are those that are over. */
export async function openOperatorSession(
  store: Pick<Store, "write">,
  session: { readonly id: string; readonly endsAt: number },
  { now, most }: { readonly now: number; readonly most: number },
): Promise<void> {
  await store.write(async (db) => {
    const kept = db
      .selectFrom("operator_sessions")
      .select("id")
      .where("ends_at", ">", now)
      .orderBy("ends_at", "desc")
      .limit(most - 1);
    await db.deleteFrom("operator_sessions").where("id", "not in", kept).execute();
    await db.insertInto("operator_sessions").values({ id: session.id, ends_at: session.endsAt }).execute();
  });
}

/** Whether there is a session that is not over at `now` (ms). */
export async function hasOperatorSession(db: Queryable, id: string, now: number): Promise<boolean> {
  const query = db.selectFrom("operator_sessions").select("id").where("id", "=", id);
  return (await query.where("ends_at", ">", now).executeTakeFirst()) !== undefined;
}

/** Ends a session. */
export async function endOperatorSession(db: Queryable, id: string): Promise<void> {
  await db.deleteFrom("operator_sessions").where("id", "=", id).execute();
}
