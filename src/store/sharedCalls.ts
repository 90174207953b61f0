import type { CallCounter, CountedCall, TakenCall } from "../lib/rateLimit.ts";
import { ALIVE_MS, NOW, type SharedPool } from "./sharedPool.ts";

/** Maximum number of quotas counted in one statement. */
const MAX_ROWS = 500;

/** Call counts shared by all replicas on one database. */
export interface SharedCalls extends CallCounter {
  /** Tells other replicas which calls have ended, and forgets quotas whose window is over. */
  publish(): void;
}

/** Calls under the same id that are counted together. */
interface Batch {
  readonly windowMs: number;
  readonly quota: number;
  readonly places: number;
  readonly waiting: { readonly resolve: (outcome: Outcome) => void; readonly reject: (e: unknown) => void }[];
}

interface Outcome extends TakenCall {
  readonly hasPlace: boolean;
}

interface CountRow {
  readonly id: string;
  readonly points: string;
  readonly reset_ms: string;
  readonly granted: string | null;
}

/**
 * Creates the counts. Each call costs one round trip at most: calls that arrive while a statement is in flight go with the next one, so a
 * replica never has more than one such statement in flight. Windows start with their first call and follow the database's clock. Once a
 * quota is used up, calls are refused locally, without the database, until its window ends.
 *
 * A row holds, by replica, how many calls of a key that replica has in flight. The row lock decides who gets the last place. A replica
 * publishes ended calls with its next call of the same key, or with {@link SharedCalls.publish}; the numbers of a replica whose heartbeat
 * has stopped no longer count.
 */
export function createSharedCalls(pool: Pick<SharedPool, "query">, replica: string): SharedCalls {
  let batches = new Map<string, Batch>();
  let isSending = false;
  let mustPublish = false;
  /** Calls that hold a place in this replica, by id. */
  const underWay = new Map<string, number>();
  /** Ids for which the database holds a greater number than {@link underWay}. */
  const ended = new Set<string>();
  /** By id of a used-up quota: when its window ends, by this process's monotonic clock. */
  const spent = new Map<string, number>();

  const release = (id: string, places = 1): void => {
    const left = (underWay.get(id) ?? 0) - places;
    if (left > 0) underWay.set(id, left);
    else underWay.delete(id);
    ended.add(id);
  };

  const settle = (id: string, { waiting, quota }: Batch, row: CountRow): void => {
    const points = Number(row.points);
    const resetMs = Math.max(0, Number(row.reset_ms));
    if (points > quota) spent.set(id, performance.now() + resetMs);
    let free = row.granted === null ? 0 : Math.max(0, Number(row.granted) - (underWay.get(id) ?? 0));
    if (free > 0) underWay.set(id, (underWay.get(id) ?? 0) + free);
    for (const [index, { resolve }] of waiting.entries()) {
      const consumed = points - (waiting.length - 1 - index);
      const hasPlace = free > 0 && consumed <= quota;
      if (hasPlace) free -= 1;
      resolve({ consumed, resetMs, hasPlace });
    }
    if (free > 0) release(id, free);
    // Publishes 0 as well, which removes the entry.
    else if (row.granted === "0") ended.add(id);
  };

  const countBatches = async (): Promise<void> => {
    const sent = [...batches].slice(0, MAX_ROWS);
    batches = new Map([...batches].slice(MAX_ROWS));
    const kept = sent.map(([id]) => underWay.get(id) ?? 0);
    for (const [id] of sent) ended.delete(id);
    try {
      const rows = await pool.query<CountRow>(COUNT, [
        sent.map(([id]) => id),
        sent.map(([, { waiting }]) => waiting.length),
        sent.map(([, { windowMs }]) => windowMs),
        sent.map(([, { places }]) => places),
        kept,
        replica,
      ]);
      const byId = new Map(rows.map((row) => [row.id, row]));
      for (const [id, batch] of sent) settle(id, batch, byId.get(id)!);
    } catch (error) {
      for (const [id, { waiting }] of sent) {
        // It may have been counted nevertheless.
        ended.add(id);
        for (const { reject } of waiting) reject(error);
      }
    }
  };

  const publishEnded = async (): Promise<void> => {
    const ids = [...ended].slice(0, MAX_ROWS);
    for (const id of ids) ended.delete(id);
    try {
      if (ids.length > 0) await pool.query(PUBLISH, [ids, ids.map((id) => underWay.get(id) ?? 0), replica]);
    } catch {
      // Retried with the next publication.
      for (const id of ids) ended.add(id);
    }
  };

  /** Sends one statement at a time: of two counts of calls in flight, the later one must arrive last. */
  const send = async (): Promise<void> => {
    isSending = true;
    // Batches whatever else is called in this turn of the event loop.
    await Promise.resolve();
    while (batches.size > 0 || mustPublish) {
      if (batches.size > 0) await countBatches();
      if (!mustPublish) continue;
      mustPublish = false;
      await publishEnded();
    }
    isSending = false;
  };
  const startSending = (): void => {
    if (!isSending) void send();
  };

  const count = (call: CountedCall, places: number): Promise<Outcome> => {
    const id = `${call.policy}:${call.who}`;
    const spentFor = (spent.get(id) ?? 0) - performance.now();
    if (spentFor > 0)
      return Promise.resolve({ consumed: call.quota + 1, resetMs: Math.ceil(spentFor), hasPlace: false });
    return new Promise((resolve, reject) => {
      const batch = batches.get(id);
      if (batch !== undefined) batch.waiting.push({ resolve, reject });
      else
        batches.set(id, {
          windowMs: call.windowSeconds * 1000,
          quota: call.quota,
          places,
          waiting: [{ resolve, reject }],
        });
      startSending();
    });
  };

  return {
    take: (call) => count(call, 0),
    async begin(call, places) {
      const outcome = await count(call, places);
      let holds = outcome.hasPlace;
      return {
        ...outcome,
        end() {
          if (holds) release(`${call.policy}:${call.who}`);
          holds = false;
        },
      };
    },
    publish() {
      const now = performance.now();
      for (const [id, until] of spent) if (until <= now) spent.delete(id);
      mustPublish = true;
      startSending();
    },
  };
}

/** Sum of the calls that live replicas other than `$6` have in flight, in a row of `call_counts`. */
const OTHERS = `coalesce((
  SELECT sum(one.value::bigint) FROM jsonb_each_text(c.under_way) AS one
  JOIN replicas ON replicas.id = one.key AND replicas.seen_at > ${NOW} - ${ALIVE_MS}
  WHERE one.key <> $6), 0)`;

/**
 * Inserts in the order of ids, so that two replicas never deadlock. Of the calls that ask for places, as many get one as the other
 * replicas leave free; in a new row all places are free.
 */
const COUNT = `
WITH asked AS (
  SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
    AS asked(id, points, window_ms, places, kept))
INSERT INTO call_counts AS c (id, points, ends_at, under_way)
SELECT id, points, ${NOW} + window_ms,
  CASE WHEN places = 0 THEN '{}'::jsonb
       ELSE jsonb_build_object($6::text, greatest(kept, least(kept + points, places))) END
FROM asked ORDER BY id
ON CONFLICT (id) DO UPDATE SET
  points = CASE WHEN c.ends_at <= ${NOW} THEN excluded.points ELSE c.points + excluded.points END,
  ends_at = CASE WHEN c.ends_at <= ${NOW} THEN excluded.ends_at ELSE c.ends_at END,
  under_way = CASE WHEN excluded.under_way = '{}'::jsonb THEN c.under_way
    ELSE c.under_way || jsonb_build_object($6::text, (
      SELECT greatest(kept, least(kept + asked.points, places - ${OTHERS})) FROM asked WHERE asked.id = c.id)) END
RETURNING id, points, ends_at - ${NOW} AS reset_ms, under_way ->> $6::text AS granted`;

const PUBLISH = `
WITH told AS (SELECT * FROM unnest($1::text[], $2::bigint[]) AS told(id, number)),
  locked AS (SELECT id FROM call_counts WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE)
UPDATE call_counts AS c SET under_way =
  CASE WHEN number = 0 THEN under_way - $3::text ELSE under_way || jsonb_build_object($3::text, number) END
FROM told JOIN locked USING (id) WHERE c.id = told.id`;
