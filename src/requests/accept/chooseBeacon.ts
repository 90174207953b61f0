import type { BeaconView } from "../../api/types.ts";
import { drandChainHash, drandRoundAt, drandRoundTime } from "../../beacon/drand.ts";
import { InvalidParameterError } from "../../lib/invalidParameter.ts";
import type { Beacon } from "../../domain/vocabulary.ts";
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
