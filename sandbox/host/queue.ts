/** How far ahead of their turn items are taken along with the one whose turn it is. */
const LOOK_AHEAD = 64;

/** Waiting items, one queue per caller; callers take turns. */
export interface FairQueue<Item> {
  readonly size: number;
  /** Returns how many items of a caller are waiting. */
  readonly sizeOf: (caller: string) => number;
  /** Whether `test` holds for any caller with waiting items. */
  readonly some: (test: (caller: string) => boolean) => boolean;
  readonly push: (caller: string, item: Item) => void;
  /**
   * Takes the next item of the next caller that `mayTake` allows, along with up to `max − 1` of that caller's next
   * 64 that `belongs` accepts; undefined if none may be taken.
   */
  readonly take: (options: {
    readonly mayTake: (caller: string) => boolean;
    readonly max: number;
    readonly belongs: (first: Item, next: Item) => boolean;
  }) => Item[] | undefined;
  /** Removes one item; false if it is not waiting. */
  readonly remove: (caller: string, item: Item) => boolean;
  /** Removes and returns all items. */
  readonly clear: () => Item[];
}

/** Creates an empty queue. A caller that has just had a turn moves to the end of the round. */
export function createFairQueue<Item>(): FairQueue<Item> {
  // The map's insertion order is the round: a caller is re-inserted after its turn.
  const lines = new Map<string, Item[]>();
  let size = 0;
  return {
    get size() {
      return size;
    },
    sizeOf: (caller) => lines.get(caller)?.length ?? 0,
    some: (test) => lines.keys().some(test),
    push: (caller, item) => {
      const line = lines.get(caller);
      if (line === undefined) lines.set(caller, [item]);
      else line.push(item);
      size += 1;
    },
    take: ({ mayTake, max, belongs }) => {
      for (const [caller, line] of lines) {
        if (!mayTake(caller)) continue;
        const first = line.shift() as Item;
        const taken = [first];
        for (let at = 0; at < line.length && at < LOOK_AHEAD && taken.length < max;) {
          if (belongs(first, line[at] as Item)) taken.push(...line.splice(at, 1));
          else at += 1;
        }
        size -= taken.length;
        lines.delete(caller);
        if (line.length > 0) lines.set(caller, line);
        return taken;
      }
      return undefined;
    },
    remove: (caller, item) => {
      const line = lines.get(caller);
      const at = line?.indexOf(item) ?? -1;
      if (line === undefined || at < 0) return false;
      line.splice(at, 1);
      size -= 1;
      if (line.length === 0) lines.delete(caller);
      return true;
    },
    clear: () => {
      const items = [...lines.values()].flat();
      lines.clear();
      size = 0;
      return items;
    },
  };
}
