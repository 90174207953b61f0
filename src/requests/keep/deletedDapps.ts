import { getAddress, type Hex } from "viem";
import { NotFoundError } from "../../lib/errors.ts";
import { InvalidParameterError } from "../../lib/invalidParameter.ts";
import { DAY_MS } from "../../lib/time.ts";
import { deleteConsumer } from "../../store/chainRecords.ts";
import { listDeletedDappConsumers } from "../../store/dapps.ts";
import type { Store } from "../../store/store.ts";
import type { Acceptance } from "../accept/acceptance.ts";
import type { RequestBook } from "../requestBook.ts";
import type { Dapp } from "../../dapps/dapp.ts";

/**
 * First pause between checks of a contract; it doubles each time. The oracle contracts keep a consumer while requests are in
 * flight, and a request may never end.
 */
const FIRST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = DAY_MS;
/** Counted from the deletion of its dapp. A word that is a month late never arrives. */
const GIVE_UP_MS = 30 * DAY_MS;

/** A contract of a deleted dapp that is still linked on chain. */
export interface LeftConsumer {
  readonly dappId: string;
  /** Checksummed. */
  readonly consumer: Hex;
  /** What kept it linked at the last check. */
  readonly waitsFor: string;
  /** Whether it isn't checked any more. */
  readonly isGivenUp: boolean;
}

/** Describes the requests that keep a contract linked; `undefined` if there are none. */
export type FindUnlinkObstacle = (dappId: string, consumer: Hex) => Promise<string | undefined>;

/** Cleans up what deleted dapps have left on chain. */
export interface DeletedDapps {
  /**
   * Unlinks the contracts of deleted dapps on a network, so that nothing can spend their subscriptions. Called by the process
   * that dispatches there. Idempotent: each call does what is still missing. A contract that requests keep linked is checked
   * at growing intervals, without creating a request, until 30 days after the deletion.
   *
   * @returns the contracts that are still linked.
   */
  unlinkDeleted(network: string, findObstacle: FindUnlinkObstacle): Promise<readonly LeftConsumer[]>;
}

/** Creates the cleanup after a dapp's deletion. Each contract is unlinked by a request of the deleted dapp, as its owner would do. */
export function createDeletedDapps(options: {
  readonly store: Store;
  readonly book: Pick<RequestBook, "open">;
  readonly acceptance: Pick<Acceptance, "accept">;
}): DeletedDapps {
  const { store, book, acceptance } = options;
  /** For each contract: when it is checked next (by `performance.now()`), the pause after that, and what kept it linked the last time. */
  const looks = new Map<string, { readonly at: number; readonly pauseMs: number; waitsFor?: string }>();

  const unlink = async (dappId: string, network: string, consumer: Hex, stored: string): Promise<void> => {
    const dapp: Dapp = { id: dappId, name: "", keyId: "deleted", facilities: [] };
    try {
      await acceptance.accept(dapp, { kind: "unlink", network, consumer }, {});
    } catch (error) {
      if (!(error instanceof NotFoundError || error instanceof InvalidParameterError)) throw error;
      // It is already unlinked on chain, or it is the service's own.
      await store.writeSoon((db) => deleteConsumer(db, { dappId, network, address: stored }));
    }
  };

  return {
    async unlinkDeleted(network, findObstacle) {
      const left: LeftConsumer[] = [];
      for (const { dappId, address, deletedAt } of await listDeletedDappConsumers(store.db, network)) {
        const name = `${dappId} ${network} ${address}`;
        const consumer = getAddress(address);
        const last = looks.get(name) ?? { at: 0, pauseMs: FIRST_PAUSE_MS };
        const isGivenUp = Date.now() >= deletedAt + GIVE_UP_MS && looks.has(name);
        const isUnderWay = book
          .open(network)
          .some((one) => one.dappId === dappId && one.kind === "unlink" && one.params.consumer === address);
        if (isUnderWay) continue;
        let { waitsFor } = last;
        if (!isGivenUp && performance.now() >= last.at) {
          const { pauseMs } = last;
          const next = { at: performance.now() + pauseMs, pauseMs: Math.min(2 * pauseMs, LONGEST_PAUSE_MS) };
          looks.set(name, next);
          waitsFor = await findObstacle(dappId, consumer);
          if (waitsFor === undefined) await unlink(dappId, network, consumer, address);
          else looks.set(name, { ...next, waitsFor });
        }
        if (isGivenUp) waitsFor ??= "each unlinking failed";
        if (waitsFor !== undefined) left.push({ dappId, consumer, waitsFor, isGivenUp });
      }
      return left;
    },
  };
}
