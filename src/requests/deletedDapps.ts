import { getAddress, type Hex } from "viem";
import { InvalidParameterError } from "../lib/invalidParameter.ts";
import { deleteConsumer } from "../store/chainRecords.ts";
import { listDeletedDappConsumers } from "../store/dapps.ts";
import type { Store } from "../store/store.ts";
import type { Acceptance } from "./acceptance.ts";
import { NotFoundError } from "./errors.ts";
import type { RequestBook } from "./requestBook.ts";
import type { Dapp } from "./service.ts";

/** First pause between looks at a contract, which doubles: the oracle contracts keep it while requests are under way, and one may never end. */
const FIRST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 86_400_000;
/** After the deletion of its dapp. A word that is a month late comes no more. */
const GIVE_UP_MS = 30 * 86_400_000;

/** A contract of a deleted dapp that the chain still has linked. */
export interface LeftConsumer {
  readonly dappId: string;
  /** Checksummed. */
  readonly consumer: Hex;
  /** What keeps it linked, as found at the last look. */
  readonly waitsFor: string;
  /** Whether nobody looks any more. */
  readonly isGivenUp: boolean;
}

/** Says which requests keep a contract linked; `undefined` where none does. */
export type FindUnlinkObstacle = (dappId: string, consumer: Hex) => Promise<string | undefined>;

/** Ends on chain what deleted dapps have left there. */
export interface DeletedDapps {
  /**
   * Has the contracts of deleted dapps unlinked on a network, so that nothing spends their subscriptions any more. For the process that
   * dispatches there; does what is missing, as often as it is called. A contract that requests keep linked is looked at ever less often,
   * without a request, and not any more 30 days after the deletion.
   *
   * @returns those that are kept.
   */
  unlinkDeleted(network: string, findObstacle: FindUnlinkObstacle): Promise<readonly LeftConsumer[]>;
}

/** Creates what follows a dapp's deletion. Each contract is unlinked by a request of the deleted dapp, as its owner would do it. */
export function createDeletedDapps(options: {
  readonly store: Store;
  readonly book: Pick<RequestBook, "open">;
  readonly acceptance: Pick<Acceptance, "accept">;
  /** Unix time in milliseconds. Default: the process's clock. */
  readonly now?: () => number;
}): DeletedDapps {
  const { store, book, acceptance, now = Date.now } = options;
  /** When each contract is looked at next, the pause after that, and what kept it the last time. */
  const looks = new Map<string, { readonly at: number; readonly pauseMs: number; waitsFor?: string }>();

  const unlink = async (dappId: string, network: string, consumer: Hex, stored: string): Promise<void> => {
    const dapp: Dapp = { id: dappId, name: "", keyId: "deleted", facilities: [] };
    try {
      await acceptance.accept(dapp, { kind: "unlink", network, consumer }, {});
    } catch (error) {
      if (!(error instanceof NotFoundError || error instanceof InvalidParameterError)) throw error;
      // The chain has unlinked it already, or it is the service's own.
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
        const isGivenUp = now() >= deletedAt + GIVE_UP_MS && looks.has(name);
        const isUnderWay = book
          .open(network)
          .some((one) => one.dappId === dappId && one.kind === "unlink" && one.params.consumer === address);
        if (isUnderWay) continue;
        let { waitsFor } = last;
        if (!isGivenUp && now() >= last.at) {
          const { pauseMs } = last;
          const next = { at: now() + pauseMs, pauseMs: Math.min(2 * pauseMs, LONGEST_PAUSE_MS) };
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
