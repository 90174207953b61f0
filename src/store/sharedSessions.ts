import { ALIVE_MS, NOW } from "./sharedPool.ts";
import type { SharedPool } from "./sharedPool.ts";

/** Sign-ins to the application's pages that are good through every replica. Ids are hashes of secrets. */
export interface SharedSessions {
  /** Opens a session for so many milliseconds; of more than `most` the first to end goes. */
  open(id: string, session: { readonly ms: number; readonly most: number }): Promise<void>;
  has(id: string): Promise<boolean>;
  end(id: string): Promise<void>;
  /** Stores a code for one sign-in of this replica's life. */
  addCode(id: string): Promise<void>;
  /** Uses a code up; whether it was there. */
  useCode(id: string): Promise<boolean>;
}

/** Creates the sessions of a replica. */
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
