import { setImmediate } from "node:timers/promises";

/**
 * Makes what writes one item with all that are given in the same turn of the event loop, in their order.
 *
 * @param write what it rejects with, every item of the turn is refused with.
 */
export function createGatherer<Item>(
  write: (items: readonly Item[]) => Promise<void>,
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
    gathering.items.push(item);
    return gathering.written;
  };
}
