import { Type } from "typebox";
import { VRF_VERSIONS, type VrfVersion } from "../../chainlink/vrfVersion.ts";
import { EXPECTED } from "../../lib/schemaErrors.ts";

/** A chain inside the service, with its options. */
export interface EmbeddedNetworkConfig {
  readonly embedded: true;
  readonly vrf?: VrfVersion;
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

/** The version of VRF that an embedded network is configured with. */
export function vrfVersionOf(network: "embedded" | EmbeddedNetworkConfig): VrfVersion {
  return network === "embedded" ? "v2" : (network.vrf ?? "v2");
}
