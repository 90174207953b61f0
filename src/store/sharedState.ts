import { createHmac } from "node:crypto";
import { createId } from "../lib/id.ts";
import { repeat } from "../lib/repeat.ts";
import { createSharedCalls } from "./sharedCalls.ts";
import type { SharedCalls } from "./sharedCalls.ts";
import { ALIVE_MS, createSharedPool, NOW } from "./sharedPool.ts";
import type { SharedPool } from "./sharedPool.ts";
import { createSharedSessions } from "./sharedSessions.ts";
import type { SharedSessions } from "./sharedSessions.ts";

const BEAT_INTERVAL_MS = 1_000;
/** Beats between two looks for rows that are over. */
const BEATS_PER_SWEEP = 30;

/** What the replicas on one database of PostgreSQL share beside the journal. All of it may be lost with a crash of the database. */
export interface SharedState {
  readonly calls: SharedCalls;
  readonly sessions: SharedSessions;
  /** Takes this replica off the list, with its calls under way and its sign-in code. */
  close(): Promise<void>;
}

/** Options of {@link openSharedState}. */
export interface SharedStateOptions {
  /** Tells one replica from another in the database. Default: a new id. */
  readonly replica?: string;
  /** Token that signs in to the application; only a keyed hash of it is stored. */
  readonly operatorToken: string;
  /** 32 bytes that every replica has: of the master key. */
  readonly key: Uint8Array;
  /** Told, in one sentence, what this replica has otherwise than another. */
  readonly onWarning: (message: string) => void;
}

/**
 * Opens what replicas share, over connections of its own, and lists this replica among those that are alive.
 *
 * @param url of a database with the tables of this version. Secret.
 * @throws {SharedStateError} when the database does not answer.
 */
export async function openSharedState(
  url: string,
  { replica = createId("replica"), operatorToken, key, onWarning }: SharedStateOptions,
): Promise<SharedState> {
  const pool = createSharedPool(url);
  const token = createHmac("sha256", key).update(operatorToken).digest("hex");
  const calls = createSharedCalls(pool, replica);
  let beats = 0;
  const beat = async (): Promise<void> => {
    await pool.query(
      `INSERT INTO replicas (id, operator_token, seen_at) VALUES ($1, $2, ${NOW})
       ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`,
      [replica, token],
    );
    calls.publish();
    beats += 1;
    if (beats % BEATS_PER_SWEEP === 0) await sweep(pool);
  };
  try {
    await beat();
    const others = await pool.query(
      `SELECT 1 FROM replicas WHERE operator_token <> $1 AND seen_at > ${NOW} - ${ALIVE_MS}`,
      [token],
    );
    if (others.length > 0)
      onWarning(
        "another replica has another operator token: each signs in through some replicas only; give all of them the same in TYCHE_OPERATOR_TOKEN",
      );
  } catch (error) {
    await pool.close();
    throw error;
  }
  // A beat that is missed is no matter: calls say for themselves that the database doesn't answer.
  const stop = repeat(beat, BEAT_INTERVAL_MS, () => {});
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    stop();
    await pool.query("DELETE FROM replicas WHERE id = $1", [replica]).catch(() => {});
    await pool.close();
  };
  return {
    calls,
    sessions: createSharedSessions(pool, replica),
    close: () => (closing ??= close()),
  };
}

/** Removes what is over: replicas that have died with their codes, sessions, and windows without a call under way. */
async function sweep(pool: SharedPool): Promise<void> {
  const isAlive = `replicas.seen_at > ${NOW} - ${ALIVE_MS}`;
  await pool.query(`DELETE FROM replicas WHERE NOT ${isAlive}`, []);
  await pool.query("DELETE FROM sign_in_codes WHERE replica NOT IN (SELECT id FROM replicas)", []);
  await pool.query(`DELETE FROM web_sessions WHERE ends_at <= ${NOW}`, []);
  await pool.query(
    `DELETE FROM call_counts WHERE ends_at <= ${NOW} AND NOT EXISTS (
       SELECT FROM jsonb_object_keys(under_way) AS one(replica) JOIN replicas ON replicas.id = one.replica)`,
    [],
  );
}
