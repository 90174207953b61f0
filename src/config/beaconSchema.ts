import { Type, type Static } from "typebox";
import { hex, STRICT } from "./schemaParts.ts";
import { QUICKNET, type BeaconTerms, type DrandChain, type LateBeacons } from "../beacon/drand.ts";
import { EXPECTED } from "../lib/schemaCheck.ts";

/** drand's public relays, of different operators (drand.love/developer). */
const PUBLIC_RELAYS = [
  "https://api.drand.sh",
  "https://api2.drand.sh",
  "https://api3.drand.sh",
  "https://drand.cloudflare.com",
];
/** An embedded chain mines a request as soon as its source was dry-run. */
export const EMBEDDED_MARGIN_SECONDS = 5;
/** Time in which a request is mined on a public network, unless that is congested. */
export const EXTERNAL_MARGIN_SECONDS = 45;

/** The rounds of drand that presets may wait for. */
export const Beacon = Type.Object(
  {
    relays: Type.Optional(
      Type.Array(Type.String({ pattern: "^https?://", [EXPECTED]: "an http: or https: URL" }), {
        minItems: 1,
        maxItems: 16,
        [EXPECTED]: "an array of URLs, at least one",
        description:
          "Relays that the oracle asks for rounds, all at once; none is believed without a valid signature. Default: drand's public ones.",
      }),
    ),
    marginSeconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 120,
        [EXPECTED]: "a whole number of seconds from 1 to 120",
        description:
          "How far in the future a request's round is. A request that is mined later than its round fails. Default: 5 on embedded networks, else 45.",
      }),
    ),
    isDefault: Type.Optional(
      Type.Boolean({
        [EXPECTED]: "true or false",
        description:
          'Whether a preset waits for a round where neither its call nor its dapp says `"none"`. Default false.',
      }),
    ),
    chain: Type.Optional(
      Type.Object(
        {
          publicKey: hex(96, "Key that signs the rounds, a point of G2."),
          genesisTime: Type.Integer({
            minimum: 0,
            [EXPECTED]: "a Unix time in seconds",
            description: "Time of round 1.",
          }),
          period: Type.Integer({
            minimum: 1,
            [EXPECTED]: "a whole number of seconds",
            description: "Seconds between rounds.",
          }),
          groupHash: hex(32, "Hash of the group that began the chain."),
          beaconId: Type.String({ [EXPECTED]: "a string", description: "Name of the chain." }),
        },
        {
          ...STRICT,
          [EXPECTED]: "an object with publicKey, genesisTime, period, groupHash and beaconId",
          description:
            "Another chain of the scheme bls-unchained-g1-rfc9380 than drand's quicknet, for tests: whoever holds its key knows all rounds.",
        },
      ),
    ),
  },
  {
    ...STRICT,
    [EXPECTED]: "an object with relays, marginSeconds, isDefault or chain",
    description: "The rounds of drand that presets may wait for. Default: those of quicknet.",
  },
);
export type BeaconConfig = Static<typeof Beacon>;

/**
 * Returns how a network uses drand.
 *
 * @param late takes rounds from anybody. Default: only relays bring them.
 */
export function beaconTermsOf(
  config: BeaconConfig | undefined,
  marginSeconds: number,
  late?: LateBeacons,
): BeaconTerms {
  const { relays = PUBLIC_RELAYS, chain = QUICKNET } = config ?? {};
  return {
    chain,
    relays: relays.map((relay) => relay.replace(/\/+$/, "")),
    marginSeconds: config?.marginSeconds ?? marginSeconds,
    isDefault: config?.isDefault ?? false,
    late,
  };
}

/** Returns the chain of drand that a network waits for. */
export function drandChainOf(network: "embedded" | { readonly beacon?: BeaconConfig }): DrandChain {
  return (network === "embedded" ? undefined : network.beacon?.chain) ?? QUICKNET;
}
