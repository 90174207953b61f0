import { getAddress } from "viem";
import { InvalidParameterError } from "../lib/invalidParameter.ts";
import { deleteConsumer } from "../store/chainRecords.ts";
import { listDeletedDappConsumers } from "../store/dapps.ts";
import type { Store } from "../store/store.ts";
import type { Acceptance } from "./acceptance.ts";
import { NotFoundError } from "./errors.ts";
import type { RequestBook } from "./requestBook.ts";
import type { Dapp } from "./service.ts";

/** First pause between tries to unlink a contract, which doubles: the oracle contracts refuse while its requests are under way, and one may never end. */
const FIRST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 86_400_000;

/** Ends on chain what deleted dapps have left there. */
export interface DeletedDapps {
  /**
   * Has the contracts of deleted dapps unlinked on a network, so that nothing spends their subscriptions any more. For the process that
   * dispatches there; does what is missing, as often as it is called.
   */
  unlinkDeleted(network: string): Promise<void>;
}

/** Creates what follows a dapp's deletion. Each contract is unlinked by a request of the deleted dapp, as its owner would do it. */
export function createDeletedDapps(options: {
  readonly store: Store;
  readonly book: Pick<RequestBook, "open">;
  readonly acceptance: Pick<Acceptance, "accept">;
  /** Time in milliseconds. Default: the process's clock. */
  readonly now?: () => number;
}): DeletedDapps {
  const { store, book, acceptance, now = () => performance.now() } = options;
  /** When each contract is tried next, and the pause after that. */
  const tries = new Map<string, { readonly at: number; readonly pauseMs: number }>();

  return {
    async unlinkDeleted(network) {
      for (const { dappId, address } of await listDeletedDappConsumers(store.db, network)) {
        const name = `${dappId} ${network} ${address}`;
        const isUnderWay = book
          .open(network)
          .some((one) => one.dappId === dappId && one.kind === "unlink" && one.params.consumer === address);
        const { at, pauseMs } = tries.get(name) ?? { at: now(), pauseMs: FIRST_PAUSE_MS };
        if (isUnderWay || now() < at) continue;
        tries.set(name, { at: now() + pauseMs, pauseMs: Math.min(2 * pauseMs, LONGEST_PAUSE_MS) });
        const dapp: Dapp = { id: dappId, name: "", keyId: "deleted", facilities: [] };
        const consumer = getAddress(address);
        try {
          await acceptance.accept(dapp, { kind: "unlink", network, consumer }, {});
        } catch (error) {
          if (!(error instanceof NotFoundError || error instanceof InvalidParameterError)) throw error;
          // The chain has unlinked it already, or it is the service's own.
          await store.writeSoon((db) => deleteConsumer(db, { dappId, network, address }));
        }
      }
    },
  };
}
