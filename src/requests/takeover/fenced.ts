import type { ChainClient } from "../../evm/client.ts";
import { DatabaseAwayError } from "../../store/databaseAway.ts";
import { fenceWrites, type Fence } from "../../store/leases.ts";
import type { Store } from "../../store/store.ts";
import type { RequestBook } from "../requestBook.ts";

/** Lets a network's pipeline write only while its lease holds. */
export function fenceStore(store: Store, fence: Fence | undefined): Store {
  if (fence === undefined) return store;
  const held = fenceWrites(store, fence);
  const fenced: Store["write"] = (work) => abandonOnDoubt(fence, held.write(work));
  return { ...store, write: fenced, writeSoon: fenced };
}

/** Lets a network's pipeline change requests only while its lease holds. */
export function fenceBook(book: RequestBook, fence: Fence | undefined): RequestBook {
  if (fence === undefined) return book;
  return {
    ...book,
    change: (decide, also, terms) => abandonOnDoubt(fence, book.change(decide, also, { ...terms, fence })),
  };
}

/** Abandons the lease when a write may or may not have been committed: the pipeline then starts over from the store, as after a restart. */
async function abandonOnDoubt<T>(fence: Fence, write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (error instanceof DatabaseAwayError) fence.abandon();
    throw error;
  }
}

/** Lets a network's sender broadcast only while its lease holds. The next dispatcher sends what it has stored. */
export function fenceClient(client: ChainClient, fence: Fence | undefined): ChainClient {
  if (fence === undefined) return client;
  return {
    ...client,
    async request(method, parameters) {
      if (method.startsWith("eth_sendRawTransaction")) fence.assertLive();
      return await client.request(method, parameters);
    },
  };
}
