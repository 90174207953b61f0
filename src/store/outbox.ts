import { sql, type Selectable } from "kysely";
import { firstId } from "../domain/id.ts";
import type { Queryable } from "./queryable.ts";
import type { DeliveryState, Tables } from "./schema.ts";

/** Something that happened, to be told to the webhooks that want its type. */
export interface OutboxEvent {
  /** `evt_` and 26 characters. The receiver knows it by this id, however often it is sent. */
  readonly id: string;
  readonly dappId: string;
  readonly type: string;
  /** Id of what it is about. */
  readonly subject: string | null;
  /** Writes the JSON that is sent; not called for an event that nobody wants. */
  readonly write: () => string;
  /** Unix time in milliseconds. */
  readonly at: number;
}

/**
 * Stores events for the webhooks that want them; to be called in the transaction that makes them true. Events that nobody wants are not
 * stored.
 *
 * @returns whether there is something to deliver.
 */
export async function addEvents(db: Queryable, events: readonly OutboxEvent[]): Promise<boolean> {
  if (events.length === 0) return false;
  const webhooks = await db
    .selectFrom("webhooks")
    .select(["id", "dapp_id", "events"])
    .where("dapp_id", "in", [...new Set(events.map(({ dappId }) => dappId))])
    .execute();
  let isAny = false;
  for (const event of events) {
    const wanting = webhooks.filter(
      (one) => one.dapp_id === event.dappId && one.events.split(" ").includes(event.type),
    );
    if (wanting.length === 0) continue;
    isAny = true;
    await insertEvent(
      db,
      event,
      wanting.map(({ id }) => id),
    );
  }
  return isAny;
}

/** Stores an event for certain webhooks. @param isReplay whether it goes to paused ones, too. */
export async function insertEvent(
  db: Queryable,
  { id, dappId, type, subject, write, at }: OutboxEvent,
  webhookIds: readonly string[],
  isReplay = false,
): Promise<void> {
  await db
    .insertInto("webhook_events")
    .values({ id, dapp_id: dappId, type, subject, body: write() })
    .execute();
  const rest = {
    event_id: id,
    state: "pending",
    attempts: 0,
    next_at: at,
    is_replay: Number(isReplay),
  } as const;
  await db
    .insertInto("webhook_deliveries")
    .values(webhookIds.map((webhook_id) => ({ webhook_id, ...rest })))
    .execute();
}

/** A delivery whose next attempt is due. */
export interface DueDelivery {
  readonly eventId: string;
  readonly body: string;
  /** Attempts so far. */
  readonly attempts: number;
}

/** Returns the ids of the webhooks with deliveries that are due. */
export async function listDueWebhooks(db: Queryable, now: number): Promise<string[]> {
  const rows = await db
    .selectFrom("webhooks")
    .select("id")
    .where((on) => {
      // As EXISTS, PostgreSQL would read all that are due; as a scalar, both databases read one row of the index.
      const due = (isReplay: 0 | 1) =>
        on(
          on
            .selectFrom("webhook_deliveries")
            .select("event_id")
            .whereRef("webhook_id", "=", "webhooks.id")
            .where("is_replay", "=", isReplay)
            .where("next_at", "<=", now)
            .orderBy("next_at")
            .limit(1),
          "is not",
          null,
        );
      return on.or([due(1), on.and([on("paused_at", "is", null), due(0)])]);
    })
    .execute();
  return rows.map(({ id }) => id);
}

/** Returns a webhook's due deliveries, those that wait longest first; of a paused one only replays. */
export async function listDueDeliveries(
  db: Queryable,
  {
    webhookId,
    isPaused,
    now,
    limit,
  }: {
    readonly webhookId: string;
    readonly isPaused: boolean;
    readonly now: number;
    readonly limit: number;
  },
): Promise<DueDelivery[]> {
  // Each query reads its first rows in the order of the index; one for both kinds, or with another order, would sort all that are due.
  const list = (isReplay: 0 | 1) =>
    db
      .selectFrom("webhook_deliveries as delivery")
      .innerJoin("webhook_events as event", "event.id", "delivery.event_id")
      .select(["delivery.event_id", "delivery.attempts", "delivery.next_at", "event.body"])
      .where("delivery.webhook_id", "=", webhookId)
      .where("delivery.is_replay", "=", isReplay)
      .where("delivery.next_at", "<=", now)
      .orderBy("delivery.next_at")
      .limit(limit)
      .execute();
  const rows = [...(await list(1)), ...(isPaused ? [] : await list(0))];
  return rows
    .toSorted((a, b) => a.next_at! - b.next_at!)
    .slice(0, limit)
    .map(({ event_id, attempts, body }) => ({ eventId: event_id, attempts, body }));
}

/** Makes deliveries due that a clock which was set back since would keep waiting: first attempts, and those further away than any pause. */
export async function advanceDeliveries(db: Queryable, now: number, longestMs: number): Promise<void> {
  await db
    .updateTable("webhook_deliveries")
    .set({ next_at: now })
    .where("next_at", ">", now)
    .where((on) => on.or([on("attempts", "=", 0), on("next_at", ">", now + longestMs)]))
    .execute();
}

/** Lets attempts wait no longer than before after the clock was set back by `backMs`. */
export async function moveDeliveries(db: Queryable, now: number, backMs: number): Promise<void> {
  await db
    .updateTable("webhook_deliveries")
    .set((on) => ({ next_at: on("next_at", "-", backMs) }))
    .where("next_at", ">", now)
    .execute();
}

/** One attempt, as it is logged. */
export type StoredAttempt = Selectable<Tables["webhook_attempts"]>;

/**
 * Stores an attempt and what it makes of its delivery: `delivered`, or `pending` until the attempt's `next_at`, or `failed`.
 *
 * @param attempts number of attempts before this one. If the delivery has another number, it was replayed meanwhile, and stays as it is.
 */
export async function saveAttempt(
  db: Queryable,
  attempt: StoredAttempt,
  { state, attempts }: { readonly state: DeliveryState; readonly attempts: number },
): Promise<void> {
  await db.insertInto("webhook_attempts").values(attempt).execute();
  await db
    .updateTable("webhook_deliveries")
    .set({ state, attempts: attempts + 1, next_at: attempt.next_at, is_replay: 0 })
    .where("webhook_id", "=", attempt.webhook_id)
    .where("event_id", "=", attempt.event_id)
    .where("attempts", "=", attempts)
    .execute();
}

/** An attempt, and the event that it was to tell. */
export type LoggedAttempt = StoredAttempt & {
  readonly type: string | null;
  readonly subject: string | null;
  /** Of the event; `null` once it is deleted. */
  readonly delivery_state: DeliveryState | null;
  /** Whether its `next_at` is still to come, as no attempt has followed it. */
  readonly is_awaited: boolean;
  /** Which attempt to deliver its event it is, from 1. */
  readonly number: number;
};

/** Which attempts of a webhook are listed. */
export interface AttemptFilter {
  /** `delivered`: those answered with 2xx; `failed`: all others. */
  readonly state?: "delivered" | "failed" | undefined;
  /** Type of the event; those whose event is no longer stored have none. */
  readonly type?: string | undefined;
  readonly eventId?: string | undefined;
}

/** Returns a webhook's attempts, newest first. @param page.before returns only those older than the one with this id. */
export async function listAttempts(
  db: Queryable,
  page: AttemptFilter & {
    readonly webhookId: string;
    readonly limit: number;
    readonly before?: string | undefined;
  },
): Promise<LoggedAttempt[]> {
  const { webhookId, limit, before, state, type, eventId } = page;
  let query = selectAttempts(db, webhookId);
  if (before !== undefined) query = query.where("attempt.id", "<", before);
  if (type !== undefined) query = query.where("event.type", "=", type);
  if (eventId !== undefined) query = query.where("attempt.event_id", "=", eventId);
  if (state === "delivered")
    query = query.where("attempt.status", ">=", 200).where("attempt.status", "<=", 299);
  if (state === "failed")
    query = query.where((on) =>
      on.or([
        on("attempt.status", "is", null),
        on("attempt.status", "<", 200),
        on("attempt.status", ">", 299),
      ]),
    );
  const found = await query.orderBy("attempt.id", "desc").limit(limit).execute();
  return await findAwaited(db, found.map(parseNumber));
}

/** Returns an attempt of a webhook with the body that was sent, `null` once its event is deleted; `undefined` if there is none. */
export async function findAttempt(
  db: Queryable,
  webhookId: string,
  id: string,
): Promise<(LoggedAttempt & { readonly body: string | null }) | undefined> {
  const found = await selectAttempts(db, webhookId)
    .select("event.body")
    .where("attempt.id", "=", id)
    .execute();
  return (await findAwaited(db, found.map(parseNumber)))[0];
}

/** Finds those of a webhook's attempts that were the last of an event that is still to be delivered. */
async function findAwaited<Attempt extends Omit<LoggedAttempt, "is_awaited">>(
  db: Queryable,
  attempts: readonly Attempt[],
): Promise<(Attempt & Pick<LoggedAttempt, "is_awaited">)[]> {
  const open = attempts.filter((one) => one.delivery_state === "pending" && one.next_at !== null);
  const [any] = open;
  const last =
    any &&
    (await db
      .selectFrom("webhook_attempts")
      .select(({ fn }) => fn.max("id").as("id"))
      .where("webhook_id", "=", any.webhook_id)
      .where("id", ">=", open.map(({ id }) => id).sort()[0]!)
      .where(
        "event_id",
        "in",
        open.map(({ event_id }) => event_id),
      )
      .groupBy("event_id")
      .execute());
  const ids = new Set(last?.map(({ id }) => id));
  return attempts.map((one) => ({ ...one, is_awaited: ids.has(one.id) }));
}

function selectAttempts(db: Queryable, webhookId: string) {
  return db
    .selectFrom("webhook_attempts as attempt")
    .leftJoin("webhook_events as event", "event.id", "attempt.event_id")
    .leftJoin("webhook_deliveries as delivery", (join) =>
      join
        .onRef("delivery.event_id", "=", "attempt.event_id")
        .onRef("delivery.webhook_id", "=", "attempt.webhook_id"),
    )
    .selectAll("attempt")
    .select(["event.type", "event.subject", "delivery.state as delivery_state"])
    .select((on) =>
      on
        .selectFrom("webhook_attempts as earlier")
        .select(({ fn }) => fn.countAll<number | string>().as("number"))
        .whereRef("earlier.webhook_id", "=", "attempt.webhook_id")
        .whereRef("earlier.event_id", "=", "attempt.event_id")
        .whereRef("earlier.id", "<=", "attempt.id")
        .as("number"),
    )
    .where("attempt.webhook_id", "=", webhookId);
}

/** Databases count in numbers or in text. */
function parseNumber<Attempt extends { readonly number: number | string | null }>(
  attempt: Attempt,
): Omit<Attempt, "number"> & { readonly number: number } {
  return { ...attempt, number: Number(attempt.number) };
}

/** Counts deliveries of webhooks that are not delivered, by webhook and state. */
export async function countUndelivered(
  db: Queryable,
  webhookIds: readonly string[],
): Promise<{ readonly webhookId: string; readonly state: DeliveryState; readonly count: number }[]> {
  if (webhookIds.length === 0) return [];
  const rows = await db
    .selectFrom("webhook_deliveries")
    .select(({ fn }) => ["webhook_id", "state", fn.countAll<number>().as("count")])
    .where("webhook_id", "in", [...webhookIds])
    .where("state", "in", ["pending", "failed"])
    .groupBy(["webhook_id", "state"])
    .execute();
  return rows.map(({ webhook_id, state, count }) => ({ webhookId: webhook_id, state, count }));
}

/** Makes deliveries of a webhook due again, from their first attempt. @returns how many. */
export async function replayDeliveries(
  db: Queryable,
  webhookId: string,
  /** One event, or all undelivered ones from this id on. */
  which: { readonly eventId: string } | { readonly fromId: string },
  now: number,
): Promise<number> {
  let query = db
    .updateTable("webhook_deliveries")
    .set({ state: "pending", attempts: 0, next_at: now, is_replay: 1 })
    .where("webhook_id", "=", webhookId);
  query =
    "eventId" in which
      ? query.where("event_id", "=", which.eventId)
      : query.where("state", "in", ["pending", "failed"]).where("event_id", ">=", which.fromId);
  return Number((await query.executeTakeFirst()).numUpdatedRows);
}

/** Counts the days (in UTC) on which a webhook was sent something since a time. */
export async function countDaysTried(db: Queryable, webhookId: string, since: number): Promise<number> {
  const { count } = await db
    .selectFrom("webhook_attempts")
    .select(sql<number | string>`count(distinct "at" / 86400000)`.as("count"))
    .where("webhook_id", "=", webhookId)
    // Finds the rows by their index; ids may be ahead of a clock that was set back.
    .where("id", ">=", firstId("att", since))
    .where("at", ">=", since)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Deletes events from before a time with their deliveries, except those that are still to be delivered, and attempts. */
export async function deleteOldEvents(
  db: Queryable,
  before: { readonly eventId: string; readonly attemptId: string },
): Promise<void> {
  await db.deleteFrom("webhook_attempts").where("id", "<", before.attemptId).execute();
  await db
    .deleteFrom("webhook_deliveries")
    .where("event_id", "<", before.eventId)
    .where("state", "!=", "pending")
    .execute();
  await db
    .deleteFrom("webhook_events")
    .where("id", "<", before.eventId)
    .where("id", "not in", (on) =>
      on.selectFrom("webhook_deliveries").select("event_id").where("event_id", "<", before.eventId),
    )
    .execute();
}
