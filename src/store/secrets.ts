import { randomInt } from "node:crypto";
import type { Selectable } from "kysely";
import type { Hex } from "viem";
import { fromRow, toRow, type Stored } from "./columns.ts";
import type { Queryable } from "./queryable.ts";
import type { Tables } from "./schema.ts";

/** What an oracle network holds for an uploader in one of their slots. */
export type SecretSlot = Stored<Tables["secret_slots"]>;

/** Stores an upload unless the slot has the same or a later version. @returns whether it was stored. */
export async function saveSlot(db: Queryable, slot: SecretSlot): Promise<boolean> {
  const { network, owner, slotId, ...content } = slot;
  const row = { version: content.version, ciphertext: content.ciphertext, expires_at: content.expiresAt };
  const { numInsertedOrUpdatedRows } = await db
    .insertInto("secret_slots")
    .values({ network, owner, slot_id: slotId, ...row })
    .onConflict((conflict) =>
      conflict
        .columns(["network", "owner", "slot_id"])
        .doUpdateSet(row)
        .where("secret_slots.version", "<", slot.version),
    )
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** Records whose a ciphertext is, unless that is known; returns whose it is. */
export async function claimCiphertext(
  db: Queryable,
  claim: { readonly network: string; readonly u: Hex; readonly owner: Hex },
): Promise<Hex> {
  const { network, u } = claim;
  await db
    .insertInto("secret_owners")
    .values(claim)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const { owner } = await db
    .selectFrom("secret_owners")
    .select("owner")
    .where((is) => is.and({ network, u }))
    .executeTakeFirstOrThrow();
  return owner;
}

/** Returns what is in a slot. */
export async function findSlot(
  db: Queryable,
  { network, owner, slotId }: Pick<SecretSlot, "network" | "owner" | "slotId">,
): Promise<SecretSlot | undefined> {
  const row = await db
    .selectFrom("secret_slots")
    .selectAll()
    .where((is) => is.and({ network, owner, slot_id: slotId }))
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Returns an uploader's slots by their ids. */
export async function listSlots(db: Queryable, network: string, owner: Hex): Promise<SecretSlot[]> {
  const rows = await db
    .selectFrom("secret_slots")
    .selectAll()
    .where((is) => is.and({ network, owner }))
    .orderBy("slot_id")
    .execute();
  return rows.map(fromRow);
}

/** Returns the names of what has not expired, by owner and slot: at most `limit` of those that follow one. */
export async function listSlotNames(
  db: Queryable,
  {
    network,
    after,
    limit,
    now,
  }: {
    readonly network: string;
    readonly after: Pick<SecretSlot, "owner" | "slotId"> | undefined;
    readonly limit: number;
    readonly now: number;
  },
): Promise<Pick<SecretSlot, "owner" | "slotId" | "version">[]> {
  let query = db.selectFrom("secret_slots").select(["owner", "slot_id", "version"]);
  query = query.where("network", "=", network).where("expires_at", ">", now);
  if (after !== undefined)
    query = query.where((is) =>
      is.or([
        is("owner", ">", after.owner),
        is.and([is("owner", "=", after.owner), is("slot_id", ">", after.slotId)]),
      ]),
    );
  const rows = await query.orderBy("owner").orderBy("slot_id").limit(limit).execute();
  return rows.map(({ owner, slot_id, version }) => ({ owner, slotId: slot_id, version }));
}

/** Deletes the slots of a network that expired before a time: what they held can't be uploaded again. */
export async function deleteExpiredSlots(db: Queryable, network: string, before: number): Promise<void> {
  await db
    .deleteFrom("secret_slots")
    .where("network", "=", network)
    .where("expires_at", "<", before)
    .execute();
}

/** Deletes a slot with what it holds; returns whether there was one. */
export async function deleteSlot(
  db: Queryable,
  { network, owner, slotId }: Pick<SecretSlot, "network" | "owner" | "slotId">,
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom("secret_slots")
    .where((is) => is.and({ network, owner, slot_id: slotId }))
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** A version of a dapp's secret, and the operator's slot that holds it. */
export interface NamedSecret extends Omit<Stored<Tables["secrets"]>, "allowedHosts" | "retiredAt"> {
  readonly allowedHosts: readonly string[] | null;
}

/** Ids of the operator's slots: apart from those that people choose. */
const FIRST_SLOT = 2 ** 24;
const LAST_SLOT = 2 ** 47;

/** Reserves a slot of its own for a version of a secret, which is not the current one before {@link publishSecret}. @returns its id. */
export async function reserveSlot(db: Queryable, secret: Omit<NamedSecret, "slotId">): Promise<number> {
  const { changedAt } = secret;
  // A number of its own without asking for the last one, which others may take at the same moment.
  const slotId = randomInt(FIRST_SLOT, LAST_SLOT);
  const row = { ...secret, slotId, retiredAt: changedAt, allowedHosts: encodeHosts(secret) };
  await db.insertInto("secrets").values(toRow<Tables["secrets"]>(row)).execute();
  return slotId;
}

/**
 * Makes a version of a secret the current one. Those before it may still be read for a while, by requests that were sent with them.
 *
 * @param readableUntil when they can't be read any more.
 * @returns whether it is there; it may have been deleted meanwhile.
 */
export async function publishSecret(
  db: Queryable,
  secret: NamedSecret,
  readableUntil: number,
): Promise<boolean> {
  const { network, slotId: slot_id, dappId: dapp_id, name, changedAt: retired_at } = secret;
  // Whoever publishes for the dapp at the same time waits here: it would not see that this one is current.
  await db
    .updateTable("dapps")
    .set((is) => ({ name: is.ref("name") }))
    .where("id", "=", dapp_id)
    .execute();
  const replaced = await db
    .updateTable("secrets")
    .set({ retired_at })
    .where((is) => is.and({ network, dapp_id, name }))
    .where("retired_at", "is", null)
    .returningAll()
    .execute();
  for (const { owner, slot_id: slot } of replaced)
    await db
      .updateTable("secret_slots")
      .set({ expires_at: readableUntil })
      .where((is) => is.and({ network, owner, slot_id: slot }))
      .where("expires_at", ">", readableUntil)
      .execute();
  const { numUpdatedRows } = await db
    .updateTable("secrets")
    .set({ retired_at: null, allowed_hosts: encodeHosts(secret) })
    .where((is) => is.and({ network, slot_id }))
    .where("retired_at", "<>", LONG_AGO)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Returns a dapp's current secrets by name, of one network if one is given. */
export async function listSecrets(db: Queryable, dappId: string, network?: string): Promise<NamedSecret[]> {
  let query = db.selectFrom("secrets").selectAll().where("dapp_id", "=", dappId);
  if (network !== undefined) query = query.where("network", "=", network);
  const rows = await query.where("retired_at", "is", null).orderBy("name").orderBy("network").execute();
  return rows.map(parseSecret);
}

/** Counts the versions of a dapp's secrets on a network, replaced ones included. */
export async function countVersions(db: Queryable, dappId: string, network: string): Promise<number> {
  const row = await db
    .selectFrom("secrets")
    .select((is) => is.fn.countAll().as("count"))
    .where((is) => is.and({ dapp_id: dappId, network }))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** Returns versions of a network's secrets, the current one included: all of one of a dapp's names, or those replaced before a time. */
export async function listVersions(
  db: Queryable,
  network: string,
  of: { readonly dappId: string; readonly name: string } | { readonly replacedBefore: number },
): Promise<NamedSecret[]> {
  const query = db.selectFrom("secrets").selectAll().where("network", "=", network);
  const rows =
    "name" in of
      ? query.where((is) => is.and({ dapp_id: of.dappId, name: of.name }))
      : query.where("retired_at", "<", of.replacedBefore).orderBy("retired_at");
  return (await rows.limit(MAX_LISTED).execute()).map(parseSecret);
}

/** Most versions that are listed at once. */
const MAX_LISTED = 500;

/** Deletes the names of versions of a network's secrets, once what they held is deleted. */
export async function forgetVersions(
  db: Queryable,
  network: string,
  slotIds: readonly number[],
): Promise<void> {
  if (slotIds.length === 0) return;
  await db.deleteFrom("secrets").where("network", "=", network).where("slot_id", "in", slotIds).execute();
}

/**
 * Deletes a dapp's secrets with what is in this database of them. What an oracle in another process holds counts as replaced long ago, until it
 * is deleted there.
 */
export async function deleteDappSecrets(db: Queryable, dappId: string): Promise<void> {
  const rows = await db.selectFrom("secrets").selectAll().where("dapp_id", "=", dappId).execute();
  for (const one of rows.map(parseSecret)) {
    const { network, slotId: slot_id } = one;
    if (await deleteSlot(db, one)) await forgetVersions(db, network, [slot_id]);
    else
      await db
        .updateTable("secrets")
        .set({ retired_at: LONG_AGO })
        .where((is) => is.and({ network, slot_id }))
        .execute();
  }
}

const LONG_AGO = 0;

function encodeHosts({ allowedHosts }: Pick<NamedSecret, "allowedHosts">): string | null {
  return allowedHosts === null ? null : JSON.stringify(allowedHosts);
}

function parseSecret({ retired_at: _, ...row }: Selectable<Tables["secrets"]>): NamedSecret {
  const { allowed_hosts: hosts } = row;
  return { ...fromRow(row), allowedHosts: hosts === null ? null : (JSON.parse(hosts) as string[]) };
}
