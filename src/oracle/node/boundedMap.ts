/** A map that evicts its oldest entries when they take too much memory. */
export interface BoundedMap<Key, Value> {
  get(key: Key): Value | undefined;
  /** Sets an entry; a key that is set again keeps its age. */
  set(key: Key, value: Value, bytes: number): void;
  delete(key: Key): void;
}

/** Creates a map whose entries take at most `maxBytes` together, as counted by whoever sets them. */
export function createBoundedMap<Key, Value>(maxBytes: number): BoundedMap<Key, Value> {
  const entries = new Map<Key, { readonly value: Value; readonly bytes: number }>();
  let held = 0;
  const remove = (key: Key): void => {
    held -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  };
  return {
    get: (key) => entries.get(key)?.value,
    delete: remove,
    set(key, value, bytes) {
      held += bytes - (entries.get(key)?.bytes ?? 0);
      entries.set(key, { value, bytes });
      while (held > maxBytes) remove(entries.keys().next().value!);
    },
  };
}
