import { Type } from "typebox";
import { VRF_VERSIONS, type VrfVersion } from "../../chainlink/vrfVersion.ts";
import type { EmbeddedVrf } from "../../networks/embedded/chain.ts";
import { EXPECTED } from "../../lib/schemaErrors.ts";

/** A chain inside the service, with its options. */
export interface EmbeddedNetworkConfig {
  readonly embedded: true;
  readonly vrf?: VrfVersion;
  readonly nativePayment?: boolean;
}

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
