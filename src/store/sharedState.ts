import { createHmac } from "node:crypto";
import { createId } from "../domain/id.ts";
import { repeat } from "../lib/repeat.ts";
import { createSharedCalls, type SharedCalls } from "./sharedCalls.ts";
import { ALIVE_MS, createSharedPool, NOW, type SharedPool } from "./sharedPool.ts";

const BEAT_INTERVAL_MS = 1_000;
/** Heartbeats between two sweeps of expired rows. */
const BEATS_PER_SWEEP = 30;

/** The state that replicas on one PostgreSQL database share besides the journal. All of it may be lost when the database crashes. */
export interface SharedState {
  readonly calls: SharedCalls;
  /** The codes of sign-in links, each for a single sign-in through any replica. */
  readonly codes: {
    add(id: string): Promise<void>;
    /** Consumes a code; returns whether it was valid. */
    use(id: string): Promise<boolean>;
  };
  /** Removes this replica from the list, and with it its calls in flight and its sign-in code. */
  close(): Promise<void>;
}

export interface SharedStateOptions {
  /** Identifies this replica in the database. Default: a new id. */
  readonly replica?: string;
  /** Token that signs in to the application; only a keyed hash of it is stored. */
  readonly operatorToken: string;
  /** 32 bytes derived from the master key, the same in every replica. */
  readonly key: Uint8Array;
  /** Called with one sentence about a setting in which this replica differs from another. */
  readonly onWarning: (message: string) => void;
  /** How long an answer of the database may take before it counts as gone. Default 2,000. */
  readonly answerTimeoutMs?: number;
}

/**
 * Opens the state that replicas share, over connections of its own, and lists this replica among the live ones.
 *
 * @param url of a database with this version's tables. Secret.
 * @throws {TycheError} `overloaded` when the database does not answer.
 */
export async function openSharedState(
  url: string,
  { replica = createId("replica"), operatorToken, key, onWarning, answerTimeoutMs }: SharedStateOptions,
): Promise<SharedState> {
  const pool = createSharedPool(url, answerTimeoutMs);
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
  // A missed heartbeat does no harm: calls report by themselves that the database doesn't answer.
  const stop = repeat(beat, BEAT_INTERVAL_MS, () => {});
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    stop();
    await pool.query("DELETE FROM replicas WHERE id = $1", [replica]).catch(() => {});
    await pool.close();
  };
  return {
    calls,
    codes: createSharedCodes(pool, replica),
    close: () => (closing ??= close()),
  };
}

/** Removes expired rows: dead replicas and their codes, and windows without a call in flight. */
async function sweep(pool: SharedPool): Promise<void> {
  const isAlive = `replicas.seen_at > ${NOW} - ${ALIVE_MS}`;
  await pool.query(`DELETE FROM replicas WHERE NOT ${isAlive}`, []);
  await pool.query("DELETE FROM sign_in_codes WHERE replica NOT IN (SELECT id FROM replicas)", []);
  await pool.query(
    `DELETE FROM call_counts WHERE ends_at <= ${NOW} AND NOT EXISTS (
       SELECT FROM jsonb_object_keys(under_way) AS one(replica) JOIN replicas ON replicas.id = one.replica)`,
    [],
  );
}

/** Creates a replica's codes. Ids are hashes. A code is valid while this replica is alive. */
function createSharedCodes(pool: Pick<SharedPool, "query">, replica: string): SharedState["codes"] {
  return {
    async add(id) {
      await pool.query("INSERT INTO sign_in_codes (id, replica) VALUES ($1, $2)", [id, replica]);
    },
    async use(id) {
      const rows = await pool.query(
        `DELETE FROM sign_in_codes WHERE id = $1
         AND replica IN (SELECT id FROM replicas WHERE seen_at > ${NOW} - ${ALIVE_MS}) RETURNING id`,
        [id],
      );
      return rows.length > 0;
    },
  };
}
