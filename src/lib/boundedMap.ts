/** A map that evicts its oldest entries when they take too much. */
export interface BoundedMap<Key, Value> {
  get(key: Key): Value | undefined;
  /** Sets an entry; a key that is set again keeps its age. `size`: bytes, or whatever the maximum counts. Default 1. */
  set(key: Key, value: Value, size?: number): void;
  delete(key: Key): void;
}

/** Creates a map whose entries take at most `maxSize` together, as counted by whoever sets them. */
export function createBoundedMap<Key, Value>(maxSize: number): BoundedMap<Key, Value> {
  const entries = new Map<Key, { readonly value: Value; readonly size: number }>();
  let held = 0;
  const remove = (key: Key): void => {
    held -= entries.get(key)?.size ?? 0;
    entries.delete(key);
  };
  return {
    get: (key) => entries.get(key)?.value,
    delete: remove,
    set(key, value, size = 1) {
      held += size - (entries.get(key)?.size ?? 0);
      entries.set(key, { value, size });
      while (held > maxSize) remove(entries.keys().next().value!);
    },
  };
}
