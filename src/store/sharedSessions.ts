import { ALIVE_MS, NOW } from "./sharedPool.ts";
import type { SharedPool } from "./sharedPool.ts";

/** Sign-ins to the application's pages that are valid through every replica. Ids are hashes of secrets. */
export interface SharedSessions {
  /** Opens a session that lasts `ms` milliseconds. If that makes more than `most`, the sessions that end first are removed. */
  open(id: string, session: { readonly ms: number; readonly most: number }): Promise<void>;
  has(id: string): Promise<boolean>;
  end(id: string): Promise<void>;
  /** Stores a single-use sign-in code, valid while this replica is alive. */
  addCode(id: string): Promise<void>;
  /** Consumes a code; returns whether it was valid. */
  useCode(id: string): Promise<boolean>;
}

/** Creates a replica's sessions. */
export function createSharedSessions(pool: Pick<SharedPool, "query">, replica: string): SharedSessions {
  return {
    async open(id, { ms, most }) {
      await pool.query(
        `WITH kept AS (
           SELECT id FROM web_sessions WHERE ends_at > ${NOW} ORDER BY ends_at DESC, id LIMIT $3::int - 1),
         removed AS (DELETE FROM web_sessions WHERE id NOT IN (SELECT id FROM kept))
         INSERT INTO web_sessions (id, ends_at) VALUES ($1, ${NOW} + $2::bigint)`,
        [id, ms, most],
      );
    },
    async has(id) {
      const rows = await pool.query(`SELECT 1 FROM web_sessions WHERE id = $1 AND ends_at > ${NOW}`, [id]);
      return rows.length > 0;
    },
    async end(id) {
      await pool.query("DELETE FROM web_sessions WHERE id = $1", [id]);
    },
    async addCode(id) {
      await pool.query("INSERT INTO sign_in_codes (id, replica) VALUES ($1, $2)", [id, replica]);
    },
    async useCode(id) {
      const rows = await pool.query(
        `DELETE FROM sign_in_codes WHERE id = $1
         AND replica IN (SELECT id FROM replicas WHERE seen_at > ${NOW} - ${ALIVE_MS}) RETURNING id`,
        [id],
      );
      return rows.length > 0;
    },
  };
}
