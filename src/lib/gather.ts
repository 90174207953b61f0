import { setImmediate } from "node:timers/promises";

/**
 * Makes what writes one item with all that are given in the same turn of the event loop, in their order.
 *
 * @param write what it rejects with, every item of the turn is refused with.
 * @param isOfOne whether an error may be one item's alone: then each of several is written by itself. Default: none is.
 */
export function createGatherer<Item>(
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
