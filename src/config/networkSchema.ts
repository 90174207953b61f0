import { Type, type Static } from "typebox";
import type { Hex } from "viem";
import { VRF_VERSIONS, type VrfVersion } from "../domain/vocabulary.ts";
import { Beacon } from "./beaconSchema.ts";
import { EmbeddedNetwork, type EmbeddedNetworkConfig, PresetVrfKeys } from "./embeddedNetworkSchema.ts";
import { EXPECTED } from "../lib/schemaCheck.ts";
import { hex, STRICT, variableName } from "./schemaParts.ts";

const path = (description: string) =>
  Type.String({ minLength: 1, [EXPECTED]: "the path of a file", description });

/** An amount as a string: a JSON number can't hold all digits of its unit. */
const amount = (unit: "gwei" | "coins" | "LINK", example: string, description: string) =>
  Type.String({
    pattern: `^(?:0|[1-9][0-9]{0,8})(?:\\.[0-9]{1,${unit === "gwei" ? 9 : 18}})?$`,
    [EXPECTED]: `a decimal number of ${unit} as a string, such as "${example}"`,
    description,
  });

/** Where to find the key of the account that sends the service's transactions; never the key itself. */
const OperatorKey = Type.Object(
  {
    env: Type.Optional(variableName("Environment variable that holds the key, 64 hex digits.")),
    keystore: Type.Optional(path("Key file of geth, clef or a wallet (Web3 Secret Storage, version 3).")),
    passwordFile: Type.Optional(path("File with the password of `keystore`.")),
    remote: Type.Optional(
      Type.Object(
        {
          url: Type.String({
            pattern: "^https?://",
            [EXPECTED]: "an http: or https: URL",
            description: "JSON-RPC endpoint of the signer.",
          }),
          address: hex(20, "The signer's account to sign with."),
        },
        {
          ...STRICT,
          [EXPECTED]: "an object with a url and an address",
          description: "A signer that supports `eth_signTransaction`, such as Web3Signer or clef.",
        },
      ),
    ),
  },
  {
    ...STRICT,
    [EXPECTED]: "an object with env, keystore or remote",
    description:
      "Key of the account that sends the service's transactions: one of `env`, `keystore`, `remote`.",
  },
);

/** Random words from Chainlink's own oracle; absent members follow from the chain's profile. */
const ChainlinkVrf = Type.Object(
  {
    chainlink: Type.Unsafe<true>({
      const: true,
      [EXPECTED]: "true",
      description: "Takes random words from Chainlink's own oracle, VRF v2.5.",
    }),
    coordinator: Type.Optional(hex(20, "Chainlink's VRFCoordinatorV2_5. Default: the profile's.")),
    keyHash: Type.Optional(
      hex(
        32,
        "Key hash of the gas lane. Default: the profile's most expensive lane, which never waits for cheaper gas.",
      ),
    ),
  },
  {
    ...STRICT,
    [EXPECTED]: "an object with chainlink",
    description: "Random words from Chainlink's own oracle.",
  },
);

/** Source of random words: our own contracts, by version, or Chainlink's. */
const VrfChoice = Type.Unsafe<VrfVersion | Static<typeof ChainlinkVrf>>({
  description:
    "Version of the random word contracts that are deployed, or Chainlink's own oracle. Default `v2`.",
  if: { type: "object" },
  // eslint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, and nobody awaits a schema
  then: ChainlinkVrf,
  else: { type: "string", enum: [...VRF_VERSIONS] },
});

/** A network served through its own nodes. No member has a default here: absent members follow from the chain's profile. */
export const ExternalNetwork = Type.Object(
  {
    chainId: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        [EXPECTED]: "a chain id",
        description: "Chain id; required if Tyche doesn't know the network by name.",
      }),
    ),
    title: Type.Optional(
      Type.String({ minLength: 1, [EXPECTED]: "a string", description: "Display name of the network." }),
    ),
    rpcUrls: Type.Array(
      Type.String({ pattern: "^(?:wss?|https?)://", [EXPECTED]: "a ws:, wss:, http: or https: URL" }),
      {
        minItems: 1,
        [EXPECTED]: "an array of URLs, at least one",
        description: "The chain's nodes, the preferred one first. Their URLs appear in no output.",
      },
    ),
    contracts: Type.Optional(path("File that `tyche network deploy` writes: where the contracts are.")),
    coordinator: Type.Optional(
      hex(
        20,
        "Address of the FunctionsCoordinator: all that a node of a multi-operator oracle needs to answer functions, in place of `contracts`.",
      ),
    ),
    presetConsumer: Type.Optional(
      hex(20, "Address of the PresetConsumer: what such a node needs besides to answer presets."),
    ),
    oracleUrl: Type.Optional(
      Type.String({
        pattern: "^https?://",
        [EXPECTED]: "an http: or https: URL",
        description:
          "URL at which the service reaches the process of `tyche oracle`, which holds the secrets of functions. Default: none, and functions have no secrets.",
      }),
    ),
    handKeyOnTo: Type.Optional(
      Type.Unsafe<Hex>({
        type: "string",
        pattern: "^0x[0-9a-f]{64}$",
        [EXPECTED]: "0x and 64 lower-case hex digits",
        description:
          "Digest of the configuration to whose nodes a node of a multi-operator oracle hands on its share of the key for secrets: its operator trusts them. Default: none.",
      }),
    ),
    operatorKey: Type.Optional(OperatorKey),
    maxFeeGwei: Type.Optional(amount("gwei", "80", "Highest gas price to pay; above it, requests wait.")),
    vrf: Type.Optional(VrfChoice),
    presetVrfKeys: Type.Optional(PresetVrfKeys),
    beacon: Type.Optional(Beacon),
    finalityDepth: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100_000,
        [EXPECTED]: "a whole number from 1 to 100000",
        description: "Number of blocks after which a block is final. Default: the profile's, or 96.",
      }),
    ),
    nativePayment: Type.Optional(
      Type.Boolean({
        [EXPECTED]: "true or false",
        description:
          "Whether random words are paid for in the chain's coin instead of LINK: VRF v2.5 only, fixed when the contracts are deployed. Default false.",
      }),
    ),
    coinPerSubscription: Type.Optional(
      amount(
        "coins",
        "0.5",
        "With nativePayment: coin that the operator puts on a dapp's subscription for random words, topped up below half of it. Default 0.1.",
      ),
    ),
    laneMaxGasGwei: Type.Optional(
      amount(
        "gwei",
        "500",
        "Highest gas price at which the deployed VRF v2.5 coordinator accepts proofs; fixed at deployment. Default 1000.",
      ),
    ),
    linkPerSubscription: Type.Optional(
      amount(
        "LINK",
        "10",
        "LINK put on each of a dapp's two subscriptions, topped up below half of it. Default 10, or 10000 if the token is our own.",
      ),
    ),
    linkPerDay: Type.Optional(
      amount(
        "LINK",
        "100",
        "LINK that a dapp's subscriptions are topped up with on one day (UTC), whoever spends it: its requests or its own contracts. Default: ten times linkPerSubscription.",
      ),
    ),
    coinPerDay: Type.Optional(
      amount(
        "coins",
        "1",
        "With nativePayment: coin that a dapp's subscription is topped up with on one day (UTC). Default: ten times coinPerSubscription.",
      ),
    ),
  },
  {
    ...STRICT,
    [EXPECTED]: "an object with the network's rpcUrls",
    description: "A network served through its own nodes.",
  },
);

/** Configuration of a network served through its own nodes. Paths are absolute. */
export type ExternalNetworkConfig = Static<typeof ExternalNetwork>;
export type OperatorKeyConfig = Static<typeof OperatorKey>;

/**
 * `"embedded"`, an embedded network with options, or a network with nodes of its own. The choice is made first, so that only violations
 * of the form that was meant are reported.
 */
export const NetworkChoice = Type.Unsafe<"embedded" | EmbeddedNetworkConfig | ExternalNetworkConfig>({
  if: { type: "object" },
  // eslint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, and nobody awaits a schema
  then: {
    type: "object",
    if: { type: "object", required: ["embedded"] },
    // eslint-disable-next-line unicorn/no-thenable -- as above
    then: EmbeddedNetwork,
    else: ExternalNetwork,
  },
  else: {
    type: "string",
    pattern: "^embedded$",
    [EXPECTED]: '"embedded", or an object with the network\'s rpcUrls',
  },
});
