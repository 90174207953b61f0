import { Type, type Static } from "typebox";
import type { Hex } from "viem";
import { VRF_VERSIONS, type VrfVersion } from "../../chainlink/vrfVersion.ts";
import { EmbeddedNetwork, type EmbeddedNetworkConfig, PresetVrfKeys } from "./embeddedNetworkSchema.ts";
import { EXPECTED } from "../../lib/schemaErrors.ts";

const STRICT = { additionalProperties: false } as const;

const path = (description: string) =>
  Type.String({ minLength: 1, [EXPECTED]: "the path of a file", description });

/** The key of the account that sends the service's transactions: never in the file itself. */
const OperatorKey = Type.Object(
  {
    env: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z_][A-Za-z0-9_]*$",
        [EXPECTED]: "the name of a variable",
        description: "Variable of the environment that holds the key, 64 hex digits.",
      }),
    ),
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
          address: Type.Unsafe<Hex>({
            type: "string",
            pattern: "^0x[0-9a-fA-F]{40}$",
            [EXPECTED]: "0x and 40 hex digits",
            description: "Account of the signer to sign with.",
          }),
        },
        {
          ...STRICT,
          [EXPECTED]: "an object with a url and an address",
          description: "A signer that knows `eth_signTransaction`, such as Web3Signer or clef.",
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

/** Random words of Chainlink's own oracle; what is absent follows from the chain's profile. */
const ChainlinkVrf = Type.Object(
  {
    chainlink: Type.Unsafe<true>({
      const: true,
      [EXPECTED]: "true",
      description: "Takes random words from Chainlink's own oracle, VRF v2.5.",
    }),
    coordinator: Type.Optional(
      Type.Unsafe<Hex>({
        type: "string",
        pattern: "^0x[0-9a-fA-F]{40}$",
        [EXPECTED]: "0x and 40 hex digits",
        description: "Chainlink's VRFCoordinatorV2_5. Default: the profile's.",
      }),
    ),
    keyHash: Type.Optional(
      Type.Unsafe<Hex>({
        type: "string",
        pattern: "^0x[0-9a-fA-F]{64}$",
        [EXPECTED]: "0x and 64 hex digits",
        description:
          "Key hash of the gas lane. Default: the profile's dearest lane, which waits for no cheaper gas.",
      }),
    ),
  },
  {
    ...STRICT,
    [EXPECTED]: "an object with chainlink",
    description: "Random words of Chainlink's own oracle.",
  },
);

/** Whose random words: of contracts of our own, by their version, or of Chainlink's. */
const VrfChoice = Type.Unsafe<VrfVersion | Static<typeof ChainlinkVrf>>({
  description:
    "Version of the random word contracts that are deployed, or Chainlink's own oracle. Default `v2`.",
  if: { type: "object" },
  // eslint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, and nobody awaits a schema
  then: ChainlinkVrf,
  else: { type: "string", enum: [...VRF_VERSIONS] },
});

/** A network that is served by nodes of its own. No member has a default here: what is absent follows from the chain's profile. */
export const ExternalNetwork = Type.Object(
  {
    chainId: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        [EXPECTED]: "a chain id",
        description: "Chain id; needed where Tyche doesn't know the network's name.",
      }),
    ),
    title: Type.Optional(
      Type.String({ minLength: 1, [EXPECTED]: "a string", description: "What pages call the network." }),
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
      Type.Unsafe<Hex>({
        type: "string",
        pattern: "^0x[0-9a-fA-F]{40}$",
        [EXPECTED]: "0x and 40 hex digits",
        description:
          "FunctionsCoordinator: instead of `contracts`, all that a node of an oracle of several operators needs to know.",
      }),
    ),
    operatorKey: Type.Optional(OperatorKey),
    maxFeeGwei: Type.Optional(
      Type.String({
        pattern: "^(?:0|[1-9][0-9]{0,8})(?:\\.[0-9]{1,9})?$",
        [EXPECTED]: 'a decimal number of gwei as a string, such as "80"',
        description: "Highest price of gas that is paid; above it, requests wait.",
      }),
    ),
    vrf: Type.Optional(VrfChoice),
    presetVrfKeys: Type.Optional(PresetVrfKeys),
    finalityDepth: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100_000,
        [EXPECTED]: "a whole number from 1 to 100000",
        description: "Blocks after which none is replaced any more. Default: the profile's, or 96.",
      }),
    ),
    nativePayment: Type.Optional(
      Type.Boolean({
        [EXPECTED]: "true or false",
        description:
          "Whether random words are paid for in the chain's coin instead of LINK: VRF v2.5 alone, fixed when the contracts are deployed. Default false.",
      }),
    ),
    coinPerSubscription: Type.Optional(
      Type.String({
        pattern: "^(?:0|[1-9][0-9]{0,8})(?:\\.[0-9]{1,18})?$",
        [EXPECTED]: 'a decimal number of coins as a string, such as "0.5"',
        description:
          "With nativePayment: coin of the operator's that a dapp's subscription for random words is given; below half of it, it is topped up. Default 0.1.",
      }),
    ),
    laneMaxGasGwei: Type.Optional(
      Type.String({
        pattern: "^(?:0|[1-9][0-9]{0,8})(?:\\.[0-9]{1,9})?$",
        [EXPECTED]: 'a decimal number of gwei as a string, such as "500"',
        description:
          "Highest gas price at which the coordinator of VRF v2.5 that is deployed takes proofs; fixed then. Default 1000.",
      }),
    ),
    linkPerSubscription: Type.Optional(
      Type.String({
        pattern: "^(?:0|[1-9][0-9]{0,8})(?:\\.[0-9]{1,18})?$",
        [EXPECTED]: 'a decimal number of LINK as a string, such as "10"',
        description:
          "LINK that each of a dapp's two subscriptions is given; below half of it, it is topped up. Default 10, or 10000 where the token is our own.",
      }),
    ),
  },
  {
    ...STRICT,
    [EXPECTED]: "an object with the network's rpcUrls",
    description: "A network that is served by nodes of its own.",
  },
);

/** A network that is served by nodes of its own, as it is configured. Paths are absolute. */
export type ExternalNetworkConfig = Static<typeof ExternalNetwork>;
export type OperatorKeyConfig = Static<typeof OperatorKey>;

/** `"embedded"`, that with options, or nodes of its own: told apart first, so that only what is wrong with the one meant is reported. */
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
