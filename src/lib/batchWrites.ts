import { setImmediate } from "node:timers/promises";

/**
 * Creates a function that writes an item together with all others given in the same turn of the event loop, in order.
 *
 * @param write if it rejects, every item of the turn is rejected with its error.
 * @param isOfOne whether an error may be a single item's: each of several is then written by itself. Default: no error is.
 */
export function batchWrites<Item>(
  write: (items: readonly Item[]) => Promise<void>,
  isOfOne: (error: unknown) => boolean = () => false,
): (item: Item) => Promise<void> {
  let gathering: { readonly items: Item[]; readonly written: Promise<void> } | undefined;
  return (item) => {
    if (gathering === undefined) {
      const items: Item[] = [];
      const written = setImmediate().then(() => {
        gathering = undefined;
        return write(items);
      });
      gathering = { items, written };
    }
    const { items, written } = gathering;
    items.push(item);
    return written.catch((error: unknown) => {
      if (items.length === 1 || !isOfOne(error)) throw error;
      return write([item]);
    });
  };
}
