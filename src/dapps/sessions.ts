/** Keeps who is signed in: in this process, or for all replicas together. Ids are hashes of secrets. */
export interface Sessions {
  /** Opens a session for so many milliseconds; of more than `most` the first to end goes. */
  open(id: string, session: { readonly ms: number; readonly most: number }): Promise<void>;
  has(id: string): Promise<boolean>;
  end(id: string): Promise<void>;
  /** Stores a code for one sign-in of this process's life. */
  addCode(id: string): Promise<void>;
  /** Uses a code up; whether it was there. */
  useCode(id: string): Promise<boolean>;
}

/** Creates sessions in this process: a restart ends them. `now`: default `Date.now`. */
export function createSessions(now: () => number = Date.now): Sessions {
  /** By id: the time at which the session ends. In order of their making. */
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
