/** Limits the bytes that all connections of a port together hold in memory. */
export interface UnsentBudget {
  /** Adds a connection. When all of them together hold too much, `drop` is called for those that have held bytes longest. */
  open(drop: () => void): {
    /** Sets how many bytes the connection holds; 0 when it has ended. */
    readonly hold: (bytes: number) => void;
  };
}

interface Holder {
  bytes: number;
  readonly drop: () => void;
}

/**
 * Creates a budget. The connection that has held bytes longest is the slowest reader and is dropped first, so that clients that
 * read their answers never notice.
 */
export function createUnsentBudget(maxBytes: number): UnsentBudget {
  /** In the order in which they started to hold bytes. */
  const holders = new Set<Holder>();
  let total = 0;

  const release = (holder: Holder): void => {
    total -= holder.bytes;
    holder.bytes = 0;
    holders.delete(holder);
  };

  return {
    open(drop) {
      const holder: Holder = { bytes: 0, drop };
      let isDropped = false;
      return {
        hold(bytes) {
          if (isDropped) return;
          total += bytes - holder.bytes;
          holder.bytes = bytes;
          if (bytes === 0) holders.delete(holder);
          else holders.add(holder);
          for (const oldest of holders) {
            if (total <= maxBytes) return;
            release(oldest);
            if (oldest === holder) isDropped = true;
            oldest.drop();
          }
        },
      };
    },
  };
}
