import type { BeaconView } from "../../api/types.ts";
import { drandChainHash, drandRoundAt, drandRoundTime, type BeaconTerms } from "../../lib/drand.ts";
import { InvalidParameterError } from "../../lib/invalidParameter.ts";

/**
 * Chooses the round of drand that a request waits for: the first one after the network's margin. It is named in the answer, and never
 * replaced by a later one: whoever could choose a round after it is known could choose the result.
 *
 * @throws InvalidParameterError if the network's presets can't wait for one.
 */
export function chooseRound(
  beacon: "drand" | "local",
  network: string,
  terms: BeaconTerms | undefined,
): BeaconView {
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
  return {
    round: round.toString(),
    time: new Date(drandRoundTime(chain, round) * 1000).toISOString(),
    chainHash: drandChainHash(chain),
    ...(beacon === "local" ? { isLocal: true as const } : {}),
  };
}
