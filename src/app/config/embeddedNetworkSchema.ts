import { Type } from "typebox";
import { VRF_VERSIONS, type VrfVersion } from "../../chainlink/vrfVersion.ts";
import type { EmbeddedVrf } from "../../networks/embedded/chain.ts";
import { MAX_JOINED_KEYS } from "../../lib/vocabulary.ts";
import { EXPECTED } from "../../lib/schemaErrors.ts";

/** A chain inside the service, with its options. */
export interface EmbeddedNetworkConfig {
  readonly embedded: true;
  readonly vrf?: VrfVersion;
  readonly nativePayment?: boolean;
  readonly vrfKeys?: number;
  readonly presetVrfKeys?: number;
}

const UP_TO_FOUR = {
  minimum: 1,
  maximum: MAX_JOINED_KEYS,
  [EXPECTED]: "a whole number from 1 to 4",
} as const;

/** How many VRF keys' words presets join. */
export const PresetVrfKeys = Type.Integer({
  ...UP_TO_FOUR,
  description:
    "Number of the network's VRF keys, the first ones, whose words presets join: one honest operator of them is enough. Default 1.",
});

/** An embedded network as an object, as {@link EmbeddedNetworkConfig}. */
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
        description: "Version of the contracts for random words, fixed when the chain is new. Default `v2`.",
      }),
    ),
    nativePayment: Type.Optional(
      Type.Boolean({
        [EXPECTED]: "true or false",
        description:
          "Whether random words are paid for in coin instead of LINK: VRF v2.5 alone, fixed when the chain is new. Default false.",
      }),
    ),
    vrfKeys: Type.Optional(
      Type.Integer({
        ...UP_TO_FOUR,
        description: "VRF keys that requests may name and join, fixed when the chain is new. Default 1.",
      }),
    ),
    presetVrfKeys: Type.Optional(PresetVrfKeys),
  },
  {
    additionalProperties: false,
    [EXPECTED]: "an object with embedded",
    description: "A chain inside the service, with options.",
  },
);

/** Whether a network's chain is inside the service. */
export function isEmbedded(network: unknown): network is "embedded" | EmbeddedNetworkConfig {
  return network === "embedded" || (typeof network === "object" && network !== null && "embedded" in network);
}

/** What an embedded network's random words are configured with. */
export function vrfOf(network: "embedded" | EmbeddedNetworkConfig): EmbeddedVrf {
  const { vrf, nativePayment }: Partial<EmbeddedNetworkConfig> = network === "embedded" ? {} : network;
  return { vrfVersion: vrf ?? "v2", nativePayment: nativePayment ?? false };
}

/** How many VRF keys an embedded network has, and of how many presets join the words. */
export function vrfKeysOf(network: "embedded" | EmbeddedNetworkConfig): {
  readonly vrfKeys: number;
  readonly presetVrfKeys: number;
} {
  const { vrfKeys = 1, presetVrfKeys = 1 }: Partial<EmbeddedNetworkConfig> =
    network === "embedded" ? {} : network;
  return { vrfKeys, presetVrfKeys };
}
