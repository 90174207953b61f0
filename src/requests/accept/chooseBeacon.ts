import type { BeaconView } from "../../api/types.ts";
import { nameBeacon } from "../../lib/drawText.ts";
import { drandChainHash, drandRoundAt, drandRoundTime, type DrandRound } from "../../lib/drand.ts";
import { TycheError } from "../../lib/errors.ts";
import { InvalidParameterError } from "../../lib/invalidParameter.ts";
import type { Beacon } from "../../lib/vocabulary.ts";
import { beaconOfRequest, type OpenRequest } from "../openRequest.ts";
import type { ServiceNetwork } from "../serviceNetwork.ts";

/**
 * Chooses the round of drand that a request waits for: the first one after the network's margin. It is named in the answer, and never
 * replaced by a later one: whoever could choose a round after it is known could choose the result.
 *
 * @returns the member of a request's parameters; none for `none`.
 * @throws InvalidParameterError if requests on the network can't wait for one.
 */
export function chooseBeacon(
  beacon: Beacon,
  network: string,
  served: Pick<ServiceNetwork, "beacon" | "localBeacon">,
): { readonly beacon?: BeaconView } {
  if (beacon === "none") return {};
  const terms = beacon === "local" ? served.localBeacon : served.beacon;
  if (terms === undefined)
    throw new InvalidParameterError([
      {
        path: "/beacon",
        message:
          beacon === "local"
            ? `"local" is for embedded networks, and ${network} is none; send "drand"`
            : `is not offered on ${network}; send "none", or use another network`,
      },
    ]);
  const { chain, marginSeconds } = terms;
  const round = drandRoundAt(chain, Date.now() / 1000 + marginSeconds);
  const chosen = {
    round: round.toString(),
    time: new Date(drandRoundTime(chain, round) * 1000).toISOString(),
    chainHash: drandChainHash(chain),
    ...(beacon === "local" ? { isLocal: true as const } : {}),
  };
  return { beacon: chosen };
}

/** Returns a round as it goes on chain. */
export function toDrandRound({ round, chainHash }: BeaconView): DrandRound {
  return { round: BigInt(round), chainHash };
}

/**
 * Refuses to send a request whose round is due by now, such as after an outage: whoever knows the round could choose when to send.
 *
 * @throws BeaconMissedError
 */
export function assertBeaconAhead(request: OpenRequest, network: string): void {
  const beacon = beaconOfRequest(request);
  if (beacon !== undefined && Date.parse(beacon.time) <= Date.now())
    throw new BeaconMissedError(beacon, network, request.progress.transactionHashes !== undefined);
}

/** A request's round was due before the request could be sent, or sent again. */
export class BeaconMissedError extends TycheError {
  constructor(beacon: BeaconView, network: string, wasSigned: boolean) {
    const due = `${nameBeacon(beacon)} was due at ${beacon.time}`;
    super(
      wasSigned
        ? `${due}, and no transaction with the request had been mined on ${network} by then: it is not sent again, as its result could be known by now; one that was sent may still be mined, so a label stays taken`
        : `${due}, before the request could be sent to ${network}: it was not sent, as its result could be known by now; make a new request, with the same label if it has one`,
      { code: "beacon_missed", blame: "us" },
    );
  }
}
