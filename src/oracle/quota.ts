/** A limited number of places, of which each holder may take only some. */
export interface Quota<Holder> {
  /** Takes a place if one is free; returns whether it did. */
  take(holder: Holder): boolean;
  /** Releases a place. */
  leave(holder: Holder): void;
}

/** Creates a quota of `total` places, at most `each` per holder. */
export function createQuota<Holder>({
  total,
  each,
}: {
  readonly total: number;
  readonly each: number;
}): Quota<Holder> {
  const taken = new Map<Holder, number>();
  let all = 0;
  return {
    take(holder) {
      const own = taken.get(holder) ?? 0;
      if (all >= total || own >= each) return false;
      all += 1;
      taken.set(holder, own + 1);
      return true;
    },
    leave(holder) {
      all -= 1;
      const own = taken.get(holder)! - 1;
      if (own === 0) taken.delete(holder);
      else taken.set(holder, own);
    },
  };
}
