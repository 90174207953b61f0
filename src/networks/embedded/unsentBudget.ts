/** Bounds the bytes that all connections of a port hold in memory together. */
export interface UnsentBudget {
  /** Takes a connection in. Should all hold too much, `drop` is called for those that have held theirs longest. */
  open(drop: () => void): {
    /** Says how many bytes the connection holds now; 0 when it has ended. */
    readonly hold: (bytes: number) => void;
  };
}

interface Holder {
  bytes: number;
  readonly drop: () => void;
}

/**
 * Creates a budget. Whoever has been holding bytes longest is the slowest reader: its connection goes first, so that those who read
 * their answers never notice.
 */
export function createUnsentBudget(maxBytes: number): UnsentBudget {
  /** In the order in which they began to hold anything. */
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
