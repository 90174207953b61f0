/** Stores who is signed in: in this process, or for all replicas together. Ids are hashes of secrets. */
export interface Sessions {
  /** Opens a session that lasts `ms` milliseconds. If that makes more than `most`, the session that ends first is removed. */
  open(id: string, session: { readonly ms: number; readonly most: number }): Promise<void>;
  has(id: string): Promise<boolean>;
  end(id: string): Promise<void>;
  /** Stores a code for a single sign-in during this process's life. */
  addCode(id: string): Promise<void>;
  /** Consumes a code; returns whether it was valid. */
  useCode(id: string): Promise<boolean>;
}

/** Creates sessions kept in this process: a restart ends them. `now`: default `Date.now`. */
export function createSessions(now: () => number = Date.now): Sessions {
  /** By id: when the session ends. In order of creation. */
  const sessions = new Map<string, number>();
  const codes = new Set<string>();
  return {
    async open(id, { ms, most }) {
      const [oldest] = sessions.keys();
      if (sessions.size >= most && oldest !== undefined) sessions.delete(oldest);
      sessions.set(id, now() + ms);
    },
    async has(id) {
      const endsAt = sessions.get(id);
      if (endsAt === undefined) return false;
      if (endsAt > now()) return true;
      sessions.delete(id);
      return false;
    },
    async end(id) {
      sessions.delete(id);
    },
    async addCode(id) {
      codes.add(id);
    },
    useCode: async (id) => codes.delete(id),
  };
}
