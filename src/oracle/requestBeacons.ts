import type { ChainClient } from "../evm/client.ts";
import type { BeaconRounds } from "../beacon/beaconRounds.ts";
import type { DrandRound } from "../beacon/drand.ts";
import { retry } from "../lib/retry.ts";
import { LONGEST_FREE_PAUSE_MS, pauseAfter } from "./backoff.ts";

/** How long after its request's block a round may be due: anybody can ask for one in a thousand years, and it would be remembered until then. */
const LONGEST_AHEAD_SECONDS = 3_600;

/** A request that may wait for a round of drand. */
interface WaitingRequest {
  readonly beacon?: DrandRound | undefined;
  readonly blockNumber: bigint;
}

/** The rounds of drand that requests wait for. */
export interface RequestBeacons {
  /** Returns why a request can't be run yet; `undefined` once its round is known, and if it waits for none. */
  findUnknown(request: WaitingRequest): string | undefined;
  /** Returns the signature of the round that a request waits for; `undefined` before it is known, and if it never will be. */
  signatureOf(request: WaitingRequest): Uint8Array | undefined;
  /**
   * Returns that signature, or the reason why the request can't be run with it; `undefined` if it waits for none.
   *
   * @throws if the round, or the request's block, isn't known yet.
   */
  read(request: WaitingRequest): Uint8Array | string | undefined;
  /** Says what a node of several waits for once it has observed a request: nodes that follow different chains of rounds never agree. */
  describeAgreement(request: WaitingRequest): string;
}

/**
 * Creates the rounds of one kind of requests. A signature stays known as long as its request. The time of a request's block decides
 * whether it can have its round, and no node's clock: relays are asked for no other round, as anybody can ask for any.
 *
 * @param options.onRound is called when a round that was asked for is known, or why it isn't has changed
 */
export function createRequestBeacons(options: {
  readonly beaconRounds: BeaconRounds;
  readonly client: Pick<ChainClient, "getHead">;
  readonly onRound: () => void;
  readonly signal: AbortSignal;
}): RequestBeacons {
  const { beaconRounds, client, onRound, signal } = options;
  const signatures = new WeakMap<WaitingRequest, Uint8Array>();
  /** Timestamp of a request's block, in seconds; `undefined` while it is read. */
  const minedAt = new WeakMap<WaitingRequest, bigint | undefined>();
  const timeOf = createBlockTimes(client, signal);

  /** Returns why a request has no signature now. */
  function ask(
    request: WaitingRequest,
  ): { readonly kind: "awaited" | "never"; readonly why: string } | undefined {
    const { beacon, blockNumber } = request;
    if (beacon === undefined || signatures.has(request)) return undefined;
    const mined = minedAt.get(request);
    if (mined === undefined) {
      if (!minedAt.has(request)) {
        minedAt.set(request, undefined);
        // It rejects only when the oracle closes.
        timeOf(blockNumber).then(
          (time) => {
            minedAt.set(request, time);
            onRound();
          },
          () => {},
        );
      }
      return { kind: "awaited", why: "reading the time of its block" };
    }
    const aheadSeconds = beaconRounds.timeOf(beacon) - Number(mined);
    if (aheadSeconds <= 0) {
      const why = `round ${beacon.round} was known before the request was mined; make a new request, with another label if this one has one: that stays taken`;
      return { kind: "never", why };
    }
    if (aheadSeconds > LONGEST_AHEAD_SECONDS && aheadSeconds < Infinity)
      return {
        kind: "never",
        why: `round ${beacon.round} is due more than an hour after the request's block`,
      };
    const state = beaconRounds.ask(beacon, onRound);
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
    read(request) {
      const missing = ask(request);
      if (missing?.kind === "awaited") throw new Error(missing.why);
      return missing === undefined ? signatures.get(request) : missing.why;
    },
    describeAgreement(request) {
      const agreement = "agreeing with the other nodes";
      const missing = ask(request);
      return missing === undefined ? agreement : `${agreement} that ${missing.why}`;
    },
  };
}

/** Creates the reader of blocks' timestamps, in seconds. One that is being read is read once: a block may have many requests. */
function createBlockTimes(client: Pick<ChainClient, "getHead">, signal: AbortSignal) {
  const reading = new Map<bigint, Promise<bigint>>();

  async function readTime(number: bigint): Promise<bigint> {
    const block = await client.getHead(number);
    if (block === undefined) throw new Error(`the node doesn't show block ${number}`);
    return block.timestamp;
  }

  /** Rejects only when the oracle closes. */
  return (number: bigint): Promise<bigint> => {
    let read = reading.get(number);
    if (read === undefined) {
      const pauseMs = (failures: number): number => pauseAfter(failures, LONGEST_FREE_PAUSE_MS);
      read = retry(() => readTime(number), { attempts: Infinity, pauseMs, signal });
      reading.set(number, read);
      read.finally(() => reading.delete(number)).catch(() => {});
    }
    return read;
  };
}
