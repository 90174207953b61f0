/** A queue that serves its callers in turn, so that a caller with many items doesn't hold up the others. */
interface FairQueue<T> {
  readonly size: number;
  /** Appends an item to those of its caller. */
  add(caller: string, item: T): void;
  /** Takes up to `count` items, one per caller in turn, each caller's in their order. */
  take(count: number): T[];
}

/** Creates an empty queue. */
export function createFairQueue<T>(): FairQueue<T> {
  /** In the order in which callers are served next. */
  const byCaller = new Map<string, T[]>();
  let size = 0;

  return {
    get size() {
      return size;
    },
    add(caller, item) {
      const items = byCaller.get(caller);
      if (items === undefined) byCaller.set(caller, [item]);
      else items.push(item);
      size += 1;
    },
    take(count) {
      const taken: T[] = [];
      while (taken.length < count && size > 0) {
        const [caller, items] = byCaller.entries().next().value!;
        taken.push(items.shift()!);
        size -= 1;
        byCaller.delete(caller);
        if (items.length > 0) byCaller.set(caller, items);
      }
      return taken;
    },
  };
}
