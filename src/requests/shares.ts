import { TycheError } from "../lib/errors.ts";
import { OverloadedError } from "./errors.ts";
import type { RequestBook } from "./requestBook.ts";

/** Requests in work on one network: four networks' worth of the longest sources are 300 MB. */
export const MAX_OPEN_PER_NETWORK = 2_500;
const RETRY_AFTER_MS = 2_000;

/** Who wants a place, and where. */
export interface Place {
  readonly network: string;
  readonly dappId: string;
}

/** The places of all networks. */
export interface Shares {
  /**
   * Takes a place for a request that is about to be stored. Each network has places of its own, and a dapp may hold as many of them as
   * it leaves free: one alone takes half, two a third each, and whoever comes next always finds some.
   *
   * @returns gives the place back: once the request is stored and counts by itself, or never will be.
   * @throws {OverloadedError} where all places of the network are taken.
   * @throws {ShareTakenError} where the dapp has its share.
   */
  take(place: Place): () => void;
}

/** Creates the places; what is stored is counted by `book`, what is on its way there here. */
export function createShares(book: Pick<RequestBook, "openCount">, limit = MAX_OPEN_PER_NETWORK): Shares {
  const coming = new Set<Place>();
  const countComing = (test: (place: Place) => boolean): number => [...coming].filter(test).length;
  return {
    take(place) {
      const { network, dappId } = place;
      const open = book.openCount(network) + countComing((one) => one.network === network);
      if (open >= limit) throw new OverloadedError(limit);
      const isOwn = (one: Place): boolean => one.network === network && one.dappId === dappId;
      const own = book.openCount(network, dappId) + countComing(isOwn);
      if (own >= limit - open) throw new ShareTakenError(own, network);
      coming.add(place);
      return () => void coming.delete(place);
    },
  };
}

/** A dapp has as many requests under way on a network as the others leave it. */
export class ShareTakenError extends TycheError {
  constructor(own: number, network: string) {
    super(
      `this dapp has ${own} requests under way on ${network}, which is its share of the places there; try again when some have ended`,
      { code: "rate_limited", blame: "caller", retryable: true, details: { retryAfterMs: RETRY_AFTER_MS } },
    );
  }
}
