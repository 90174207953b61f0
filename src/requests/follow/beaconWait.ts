import type { BeaconRounds } from "../../beacon/beaconRounds.ts";
import { describeBeaconWait, LATE_MS } from "../../text/draw.ts";
import { beaconOfRequest, type OpenRequest } from "../openRequest.ts";

/** What keeps a preset or function from its result: its round of drand is `ahead`, or it is `late` and no relay was seen to have it. */
export interface BeaconDelay {
  readonly kind: "ahead" | "late";
  /** One sentence. */
  readonly why: string;
}

/** Says whether a request can't have its result yet as its round of drand is not known; `undefined` where that isn't the reason. */
export type BeaconWait = (request: OpenRequest) => BeaconDelay | undefined;

/**
 * Creates the watch over the rounds of drand that requests wait for. It asks the relays itself, and only for rounds that are late: the oracle
 * may run elsewhere, and what it was told isn't on chain.
 */
export function createBeaconWait(beaconRounds: BeaconRounds): BeaconWait {
  return (request) => {
    const beacon = beaconOfRequest(request);
    const { wordBlock, acceptedBlock } = request.progress;
    if (beacon === undefined || (request.kind === "preset" ? wordBlock : acceptedBlock) === undefined)
      return undefined;
    const { round, time, chainHash } = beacon;
    const lateMs = Date.now() - Date.parse(time);
    if (lateMs < 0) return { kind: "ahead", why: describeBeaconWait(beacon) };
    if (lateMs < LATE_MS) return undefined;
    const state = beaconRounds.ask({ round: BigInt(round), chainHash });
    return state.kind === "awaited" ? { kind: "late", why: state.why } : undefined;
  };
}
