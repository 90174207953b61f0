import type { ChainClient } from "../evm/client.ts";
import type { BeaconRounds } from "../lib/beaconRounds.ts";
import type { DrandRound } from "../lib/drand.ts";

/** A request that may wait for a round of drand. */
interface WaitingRequest {
  readonly beacon?: DrandRound | undefined;
  readonly blockNumber: bigint;
}

/** The rounds of drand that requests wait for. */
export interface RequestRounds {
  /** Returns why a request can't be run yet; `undefined` once its round is known, and if it waits for none. */
  findUnknown(request: WaitingRequest): string | undefined;
  /** Returns the signature of the round that a request waits for; `undefined` before it is known, and if it never will be. */
  signatureOf(request: WaitingRequest): Uint8Array | undefined;
  /**
   * Returns that signature, or the reason why the request can't be run with it; `undefined` if it waits for none.
   *
   * @throws if the round, or the request's block, isn't known yet.
   */
  read(request: WaitingRequest): Promise<Uint8Array | string | undefined>;
}

/**
 * Creates the rounds of one kind of requests. A signature stays known as long as its request.
 *
 * @param options.onRound is called when a round that was asked for is known, or why it isn't has changed
 */
export function createRequestRounds(options: {
  readonly rounds: BeaconRounds;
  readonly client: Pick<ChainClient, "getHead">;
  readonly onRound: () => void;
}): RequestRounds {
  const { rounds, client, onRound } = options;
  const signatures = new WeakMap<WaitingRequest, Uint8Array>();

  /** Returns why a request has no signature now. */
  function ask(
    request: WaitingRequest,
  ): { readonly kind: "awaited" | "never"; readonly why: string } | undefined {
    if (request.beacon === undefined || signatures.has(request)) return undefined;
    const state = rounds.ask(request.beacon, onRound);
    if (state.kind !== "known") return state;
    signatures.set(request, state.signature);
    return undefined;
  }

  return {
    findUnknown(request) {
      const missing = ask(request);
      return missing?.kind === "awaited" ? missing.why : undefined;
    },
    signatureOf: (request) => signatures.get(request),
    async read(request) {
      const { beacon, blockNumber } = request;
      if (beacon === undefined) return undefined;
      const missing = ask(request);
      if (missing?.kind === "awaited") throw new Error(missing.why);
      if (missing !== undefined) return missing.why;
      const block = await client.getHead(blockNumber);
      if (block === undefined) throw new Error(`the node doesn't show block ${blockNumber}`);
      return rounds.timeOf(beacon) > Number(block.timestamp)
        ? signatures.get(request)
        : `drand's round ${beacon.round} was known before the request was mined; make a new request`;
    },
  };
}
