import { TycheError } from "../../lib/errors.ts";
import { OverloadedError } from "../errors.ts";
import type { RequestBook } from "../requestBook.ts";

/** Maximum number of open requests on one network: on four networks, with the longest sources, they take 300 MB. */
export const MAX_OPEN_PER_NETWORK = 2_500;
const RETRY_AFTER_MS = 2_000;

/** A request's place: its network and its dapp. */
export interface Place {
  readonly network: string;
  readonly dappId: string;
}

/** The places of all networks. */
export interface OpenLimits {
  /**
   * Takes a place for a request that is about to be stored. Each network has its own places, and a dapp may hold as many of
   * them as it leaves free: one dapp alone gets half, two get a third each, and a newcomer always finds some.
   *
   * @returns a function that gives the place back, to be called once the request is stored, and so counted by itself, or
   * will never be stored.
   * @throws {OverloadedError} when all places of the network are taken.
   * @throws {OpenLimitError} when the dapp has its share.
   */
  take(place: Place): () => void;
}

/** Creates the places: `book` counts stored requests, and those about to be stored are counted here. */
export function createOpenLimits(
  book: Pick<RequestBook, "openCount">,
  limit = MAX_OPEN_PER_NETWORK,
): OpenLimits {
  const coming = new Set<Place>();
  const countComing = (test: (place: Place) => boolean): number => [...coming].filter(test).length;
  return {
    take(place) {
      const { network, dappId } = place;
      const open = book.openCount(network) + countComing((one) => one.network === network);
      if (open >= limit) throw new OverloadedError(limit);
      const isOwn = (one: Place): boolean => one.network === network && one.dappId === dappId;
      const own = book.openCount(network, dappId) + countComing(isOwn);
      if (own >= limit - open) throw new OpenLimitError(own, network);
      coming.add(place);
      return () => void coming.delete(place);
    },
  };
}

/** A dapp has as many open requests on a network as its share allows. */
export class OpenLimitError extends TycheError {
  constructor(own: number, network: string) {
    super(
      `this dapp has ${own} requests in progress on ${network}, which is its share of the capacity; try again when some have ended`,
      { code: "rate_limited", blame: "caller", retryable: true, details: { retryAfterMs: RETRY_AFTER_MS } },
    );
  }
}
