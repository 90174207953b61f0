import type { ChainClient } from "../evm/client.ts";
import type { Fence } from "../store/leases.ts";
import type { Store } from "../store/store.ts";
import type { RequestBook } from "./requestBook.ts";

/** Lets the pipeline of a network write only while its lease holds. */
export function fenceStore(store: Store, fence: Fence | undefined): Store {
  if (fence === undefined) return store;
  const fenced: Store["write"] = (work) =>
    store.write(async (db) => {
      await fence.assertHeld(db);
      return await work(db);
    });
  return { ...store, write: fenced, writeSoon: fenced };
}

/** Lets the pipeline of a network change requests only while its lease holds. */
export function fenceBook(book: RequestBook, fence: Fence | undefined): RequestBook {
  if (fence === undefined) return book;
  return { ...book, change: (changes, also) => book.change(changes, also, fence) };
}

/** Lets the sender of a network broadcast only while its lease holds. What it has stored is sent by whoever dispatches next. */
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
