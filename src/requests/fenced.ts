import type { ChainClient } from "../evm/client.ts";
import { DatabaseAwayError } from "../store/databaseAway.ts";
import type { Fence } from "../store/leases.ts";
import type { Store } from "../store/store.ts";
import type { RequestBook } from "./requestBook.ts";

/** Lets the pipeline of a network write only while its lease holds. */
export function fenceStore(store: Store, fence: Fence | undefined): Store {
  if (fence === undefined) return store;
  const fenced: Store["write"] = (work) =>
    abandonOnDoubt(
      fence,
      store.write(async (db) => {
        await fence.assertHeld(db);
        return await work(db);
      }),
    );
  return { ...store, write: fenced, writeSoon: fenced };
}

/** Lets the pipeline of a network change requests only while its lease holds. */
export function fenceBook(book: RequestBook, fence: Fence | undefined): RequestBook {
  if (fence === undefined) return book;
  return { ...book, change: (changes, also) => abandonOnDoubt(fence, book.change(changes, also, fence)) };
}

/** A pipeline that can't know whether its write was committed goes on as after a restart: from what is stored. */
async function abandonOnDoubt<T>(fence: Fence, write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (error instanceof DatabaseAwayError) fence.abandon();
    throw error;
  }
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
