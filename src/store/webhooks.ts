import type { Selectable } from "kysely";
import { fromRow, toRow, type Stored } from "./columns.ts";
import type { Queryable } from "./queryable.ts";
import type { PauseReason, Tables } from "./schema.ts";
import type { Store } from "./store.ts";

type Row = Selectable<Tables["webhooks"]>;

/** A stored webhook. */
export interface StoredWebhook extends Omit<
  Stored<Row>,
  "events" | "previousSecret" | "previousUntil" | "pausedAt" | "pausedWhy"
> {
  readonly events: readonly string[];
  /** The secret before the last rotation, sealed, and until when it signs as well. */
  readonly previous: { readonly secret: Uint8Array; readonly until: number } | null;
  readonly paused: { readonly at: number; readonly why: PauseReason } | null;
}

/** Stores a new webhook. */
export async function insertWebhook(db: Queryable, webhook: StoredWebhook): Promise<void> {
  await db.insertInto("webhooks").values(rowOf(webhook)).execute();
}

/** Returns a webhook, of a dapp if one is given, or `undefined`. */
export async function findWebhook(
  db: Queryable,
  id: string,
  dappId?: string,
): Promise<StoredWebhook | undefined> {
  let query = db.selectFrom("webhooks").selectAll().where("id", "=", id);
  if (dappId !== undefined) query = query.where("dapp_id", "=", dappId);
  const row = await query.executeTakeFirst();
  return row && parseRow(row);
}

/** Returns a dapp's webhooks, oldest first. */
export async function listWebhooks(db: Queryable, dappId: string): Promise<StoredWebhook[]> {
  const rows = await db
    .selectFrom("webhooks")
    .selectAll()
    .where("dapp_id", "=", dappId)
    .orderBy("id")
    .execute();
  return rows.map(parseRow);
}

/** Stores what its owner changes, and nothing else: an attempt may pause the webhook at the same time. `paused: null` resumes it, and forgets earlier failures. */
export async function changeWebhook(
  db: Queryable,
  id: string,
  changes: Partial<Pick<StoredWebhook, "url" | "description" | "events" | "paused">>,
): Promise<void> {
  const { url, description, events, paused } = changes;
  if (Object.keys(changes).length === 0) return;
  await db
    .updateTable("webhooks")
    .set({
      ...(url === undefined ? {} : { url }),
      ...(description === undefined ? {} : { description }),
      ...(events === undefined ? {} : { events: events.join(" ") }),
      ...(paused === undefined ? {} : { paused_at: paused?.at ?? null, paused_why: paused?.why ?? null }),
      ...(paused === null ? { failing_since: null } : {}),
    })
    .where("id", "=", id)
    .execute();
}

/**
 * Replaces a webhook's secret; the present one becomes the previous one, whose bytes are erased.
 *
 * @returns `false`, and changes nothing, if `previous` is not the present secret: it was replaced meanwhile.
 */
export async function replaceSecret(
  store: Pick<Store, "erase">,
  id: string,
  secret: Uint8Array,
  previous: NonNullable<StoredWebhook["previous"]>,
): Promise<boolean> {
  const { numUpdatedRows } = await store.erase((db) =>
    db
      .updateTable("webhooks")
      .set({ secret, previous_secret: previous.secret, previous_until: previous.until })
      .where("id", "=", id)
      .where("secret", "=", previous.secret)
      .executeTakeFirst(),
  );
  return numUpdatedRows > 0n;
}

/** Erases previous secrets that don't sign any more. */
export async function eraseOldSecrets(store: Pick<Store, "db" | "erase">, now: number): Promise<void> {
  const expired = await store.db
    .selectFrom("webhooks")
    .select("id")
    .where("previous_until", "<=", now)
    .execute();
  if (expired.length === 0) return;
  await store.erase((db) =>
    db
      .updateTable("webhooks")
      .set({ previous_secret: null, previous_until: null })
      .where("previous_until", "<=", now)
      .execute(),
  );
}

/** Deletes a webhook with its deliveries and their log. */
export async function deleteWebhook(store: Pick<Store, "erase" | "write">, id: string): Promise<void> {
  await store.erase(() =>
    store.write(async (db) => {
      await db.deleteFrom("webhooks").where("id", "=", id).execute();
      await db.deleteFrom("webhook_deliveries").where("webhook_id", "=", id).execute();
      await db.deleteFrom("webhook_attempts").where("webhook_id", "=", id).execute();
    }),
  );
}

/** Deletes a dapp's webhooks with their deliveries and log; to be called where their secrets are erased. */
export async function deleteWebhooksOf(db: Queryable, dappId: string): Promise<void> {
  const ids = (await listWebhooks(db, dappId)).map(({ id }) => id);
  if (ids.length === 0) return;
  await db.deleteFrom("webhooks").where("id", "in", ids).execute();
  await db.deleteFrom("webhook_deliveries").where("webhook_id", "in", ids).execute();
  await db.deleteFrom("webhook_attempts").where("webhook_id", "in", ids).execute();
  await db.deleteFrom("webhook_events").where("dapp_id", "=", dappId).execute();
}

/** Records that an attempt at `at` (ms) succeeded. */
export async function noteSuccess(db: Queryable, id: string, at: number): Promise<void> {
  await db
    .updateTable("webhooks")
    .set({ failing_since: null, last_success_at: at })
    .where("id", "=", id)
    .execute();
}

/** Records that an attempt failed at `at` (ms), if none has since the last success, or the clock was set back since. */
export async function noteFailure(db: Queryable, id: string, at: number): Promise<void> {
  await db
    .updateTable("webhooks")
    .set({ failing_since: at })
    .where("id", "=", id)
    .where((on) => on.or([on("failing_since", "is", null), on("failing_since", ">", at)]))
    .execute();
}

/** Pauses a webhook unless it is paused already. */
export async function pauseWebhook(
  db: Queryable,
  id: string,
  { at, why }: NonNullable<StoredWebhook["paused"]>,
): Promise<void> {
  await db
    .updateTable("webhooks")
    .set({ paused_at: at, paused_why: why })
    .where("id", "=", id)
    .where("paused_at", "is", null)
    .execute();
}

function rowOf({ previous, paused, events, ...webhook }: StoredWebhook): Row {
  return {
    ...toRow<Omit<Row, "events" | "previous_secret" | "previous_until" | "paused_at" | "paused_why">>(
      webhook,
    ),
    events: events.join(" "),
    previous_secret: previous?.secret ?? null,
    previous_until: previous?.until ?? null,
    paused_at: paused?.at ?? null,
    paused_why: paused?.why ?? null,
  };
}

function parseRow({ previous_secret, previous_until, paused_at, paused_why, ...row }: Row): StoredWebhook {
  return {
    ...fromRow(row),
    events: row.events.split(" "),
    previous:
      previous_secret === null || previous_until === null
        ? null
        : { secret: previous_secret, until: previous_until },
    paused: paused_at === null || paused_why === null ? null : { at: paused_at, why: paused_why },
  };
}
