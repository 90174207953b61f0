import { Type } from "typebox";
import { EXPECTED } from "../../lib/schemaCheck.ts";
import {
  BEACONS,
  MAX_JOINED_KEYS,
  RETURN_TYPES,
  SECRET_NAME,
  type ReturnType,
} from "../../domain/vocabulary.ts";
import {
  addressParameter,
  confirmationsParameter,
  hash,
  integer,
  LABEL_PARAMETERS,
  networkParameter,
  oneOf,
  type SchemaTerms,
  STRICT,
} from "./parameterSchemas.ts";

/** Most secrets of a call, as of a dapp on a network. */
const MAX_SECRETS = 100;

const source = Type.String({
  minLength: 1,
  [EXPECTED]: "a string of JavaScript",
  description:
    "JavaScript source of the function: the body of an async function that returns a byte buffer. " +
    "Its arguments are in the array `args`. At most 30,720 bytes of UTF-8.",
});

const args = Type.Array(Type.String({ [EXPECTED]: "a string" }), {
  default: [],
  [EXPECTED]: "an array of strings",
  description: "Arguments for the function.",
});

const secrets = Type.Optional(
  Type.Array(Type.String({ minLength: 1, [EXPECTED]: "the name of a secret" }), {
    minItems: 1,
    maxItems: MAX_SECRETS,
    uniqueItems: true,
    [EXPECTED]: "an array of names of secrets",
    description: "Names of the dapp's secrets on the network that the source may read, as `secrets.NAME`.",
  }),
);

const secretValues = Type.Optional(
  Type.Unsafe<Readonly<Record<string, string>>>({
    type: "object",
    minProperties: 1,
    maxProperties: MAX_SECRETS,
    propertyNames: {
      pattern: SECRET_NAME.source,
      [EXPECTED]: "1 to 100 letters, digits and underscores, and begin with no digit",
    },
    additionalProperties: {
      type: "string",
      minLength: 1,
      writeOnly: true,
      [EXPECTED]: "text of at least one character",
    },
    writeOnly: true,
    [EXPECTED]: `an object of 1 to ${MAX_SECRETS} values by name`,
    description:
      "Values that the source reads as `secrets.NAME` in this run, in place of the dapp's secrets: at most 2,048 bytes of UTF-8 each. They are kept nowhere, and may be sent to any host.",
  }),
);

const returnType = Type.Unsafe<ReturnType>({
  ...oneOf(RETURN_TYPES, "Type used to decode the result.", "string"),
});

const beacon = (description: string) => Type.Optional(Type.Enum([...BEACONS], { description }));

/** Calls that send something on chain, or try it. */
export function callSchemas(terms: SchemaTerms) {
  return {
    /** Everything in a preset request except the preset's own parameters, which the preset's schema checks. */
    preset: Type.Object({
      network: networkParameter(terms, undefined, "polygon_mumbai"),
      preset: oneOf(terms.presets, "Preset to run.", "coinflip"),
      confirmations: confirmationsParameter("the random word is"),
      beacon: beacon(
        "A source of randomness that the word also follows from: the first round of drand that is due after the network's margin. The answer names it. `local`, on embedded networks: a round of the service's own beacon, which works without internet and proves nothing. Default: what the dapp says, or else the network, mostly `none`.",
      ),
      ...LABEL_PARAMETERS,
    }),
    function: Type.Object(
      {
        network: networkParameter(terms),
        source,
        args,
        secrets,
        returnType,
        beacon: beacon(
          "A source of randomness for the function: the first round of drand that is due after the network's margin, which the answer names. The source gets a word of 32 bytes that follows from it as the last of `bytesArgs`. `local` as for presets. Default: `none`, and no word.",
        ),
        ...LABEL_PARAMETERS,
      },
      STRICT,
    ),
    simulate: Type.Object(
      {
        network: Type.Optional(oneOf(terms.networks, "Network whose limits apply, and whose secrets.")),
        source,
        args,
        secrets,
        secretValues,
        returnType,
        beacon: beacon(
          "As of a function on the network; the word that the source gets here is always the same. Default: `none`.",
        ),
      },
      STRICT,
    ),
    random: Type.Object(
      {
        network: networkParameter(terms, undefined, "fantom_testnet"),
        numWords: integer({ minimum: 1, maximum: terms.maxWords, default: 1 }, "Number of random numbers."),
        confirmations: confirmationsParameter("the random numbers are"),
        ...LABEL_PARAMETERS,
        keyHash: Type.Optional(
          hash("Keccak256 hash that names the VRF key: one that `GET /api/networks` lists for the network."),
        ),
        keyHashes: Type.Optional(
          Type.Array(hash("Key hash of the network."), {
            minItems: 1,
            maxItems: MAX_JOINED_KEYS,
            uniqueItems: true,
            [EXPECTED]: "an array of 1 to 4 different key hashes",
            description:
              "VRF keys whose words are joined, instead of `keyHash`: 1 to 4 different ones that `GET /api/networks` lists. The " +
              "numbers are a hash of all their words, so one honest operator is enough. In the query, separated by commas.",
          }),
        ),
      },
      STRICT,
    ),
    consumer: Type.Object(
      {
        dappId: Type.Optional(
          Type.String({
            pattern: "^[A-Za-z0-9_-]{1,64}$",
            [EXPECTED]: "1 to 64 letters, digits, _ or -",
            description: "Identifier of the dapp, as in the address of its page. Default: the key's dapp.",
          }),
        ),
        network: networkParameter(terms),
        consumer: addressParameter(
          "Address of the consumer contract; its checksum is verified when mixed case.",
        ),
      },
      STRICT,
    ),
    unlink: Type.Object({ network: networkParameter(terms) }, STRICT),
    faucet: Type.Object(
      {
        network: networkParameter({ networks: terms.embedded }, "Embedded network to send on."),
        address: addressParameter(
          "Recipient of the coin and LINK; its checksum is verified when mixed case.",
        ),
      },
      STRICT,
    ),
  };
}
