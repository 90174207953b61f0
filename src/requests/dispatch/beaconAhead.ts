import type { BeaconView } from "../../api/types.ts";
import { nameBeacon } from "../../text/draw.ts";
import { TycheError } from "../../lib/errors.ts";
import { beaconOfRequest, type OpenRequest } from "../openRequest.ts";

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
