import { Type, type Static } from "typebox";
import { VRF_VERSIONS, type VrfVersion, MAX_JOINED_KEYS } from "../domain/vocabulary.ts";
import type { EmbeddedVrf } from "../networks/embedded/chain.ts";
import { Beacon } from "./beaconSchema.ts";
import { EXPECTED } from "../lib/schemaCheck.ts";
import { STRICT } from "./schemaParts.ts";

const UP_TO_FOUR = {
  minimum: 1,
  maximum: MAX_JOINED_KEYS,
  [EXPECTED]: "a whole number from 1 to 4",
} as const;

/** Number of VRF keys whose words presets join. */
export const PresetVrfKeys = Type.Integer({
  ...UP_TO_FOUR,
  description:
    "How many of the network's VRF keys, from the first, presets join the words of: one honest operator among them is enough. Default 1.",
});

/** A chain inside the service, with its options. */
export const EmbeddedNetwork = Type.Object(
  {
    embedded: Type.Unsafe<true>({
      const: true,
      [EXPECTED]: "true",
      description: "A chain inside the service.",
    }),
    vrf: Type.Optional(
      Type.Unsafe<VrfVersion>({
        type: "string",
        enum: VRF_VERSIONS,
        description:
          "Version of the contracts for random words, fixed when the chain is created. Default `v2`.",
      }),
    ),
    nativePayment: Type.Optional(
      Type.Boolean({
        [EXPECTED]: "true or false",
        description:
          "Whether random words are paid for in coin instead of LINK: VRF v2.5 only, fixed when the chain is created. Default false.",
      }),
    ),
    vrfKeys: Type.Optional(
      Type.Integer({
        ...UP_TO_FOUR,
        description:
          "Number of VRF keys that requests may name and join, fixed when the chain is created. Default 1.",
      }),
    ),
    presetVrfKeys: Type.Optional(PresetVrfKeys),
    beacon: Type.Optional(Beacon),
  },
  {
    ...STRICT,
    [EXPECTED]: "an object with embedded",
    description: "A chain inside the service, with options.",
  },
);

export type EmbeddedNetworkConfig = Static<typeof EmbeddedNetwork>;

/** Whether a network's chain runs inside the service. */
export function isEmbedded(network: unknown): network is "embedded" | EmbeddedNetworkConfig {
  return network === "embedded" || (typeof network === "object" && network !== null && "embedded" in network);
}

/** Returns an embedded network's configuration for random words. */
export function vrfOf(network: "embedded" | EmbeddedNetworkConfig): EmbeddedVrf {
  const { vrf, nativePayment }: Partial<EmbeddedNetworkConfig> = network === "embedded" ? {} : network;
  return { vrfVersion: vrf ?? "v2", nativePayment: nativePayment ?? false };
}

/** Returns how many VRF keys an embedded network has, and how many of their words presets join. */
export function vrfKeysOf(network: "embedded" | EmbeddedNetworkConfig): {
  readonly vrfKeys: number;
  readonly presetVrfKeys: number;
} {
  const { vrfKeys = 1, presetVrfKeys = 1 }: Partial<EmbeddedNetworkConfig> =
    network === "embedded" ? {} : network;
  return { vrfKeys, presetVrfKeys };
}
