import { BEACONS, FACILITIES, KEY_ACCESSES } from "../domain/vocabulary.ts";
import { Type } from "typebox";
import { hex, nullable, time } from "./common.ts";

export const Facility = Type.Enum([...FACILITIES]);

const juels = (of: string) => Type.String({ description: `${of}, in juels (1e-18 LINK).` });

/** A customer's application: it has API keys and its own subscriptions on every network. */
export const DappView = Type.Object({
  id: Type.String({ description: "Identifier: `dapp_` and 26 characters." }),
  name: Type.String(),
  facilities: Type.Array(Facility, { description: "What it may use." }),
  createdAt: time("When it was created."),
  beacon: Type.Optional(
    Type.Enum([...BEACONS], {
      description: "What its presets wait for where a call doesn't say it; absent: what the network says.",
    }),
  ),
});

/** An API key, without the key itself. */
export const KeyView = Type.Object({
  id: Type.String(),
  name: Type.String({ description: "Name that its owner chose; may be empty." }),
  ending: nullable(Type.String({ description: "Last four characters; `null` once it is revoked." })),
  createdAt: time("When it was created."),
  lastUsedAt: nullable(time("When it was last used, to the minute; `null` if never.")),
  revokedAt: nullable(time("When it was revoked; `null` while it is live.")),
  dailyLimit: nullable(
    Type.Integer({
      description: "Maximum number of requests per day (UTC); `null` for no limit.",
    }),
  ),
  requestsToday: nullable(
    Type.Integer(),
    "Requests that were made with it today (UTC); `null` without a daily limit, where they aren't counted.",
  ),
  access: Type.Enum([...KEY_ACCESSES], { description: "`read`: GET alone; `full`: all calls of the dapp." }),
  expiresAt: nullable(time("From when on calls with it are refused (401 `key_expired`); `null` for never.")),
  previousUntil: nullable(
    time("Until when the value before the last rotation is valid, too; `null` if only one value is."),
  ),
});

/** An API key with its value. */
export const NewKeyView = Type.Object({
  ...KeyView.properties,
  apiKey: Type.String({ description: "The key itself, for the `Authorization` header. Keep it secret." }),
});

/** The values with which a consumer contract on one network is deployed. */
export const NetworkConfigView = Type.Object({
  network: Type.String(),
  title: Type.String(),
  chainId: Type.Integer(),
  rpcUrl: Type.Optional(Type.String()),
  vrfSubscriptionId: Type.Optional(
    Type.String({ description: "Decimal; absent until the service has created the subscriptions." }),
  ),
  functionsSubscriptionId: Type.Optional(Type.String()),
  keyHash: Type.Optional(hex("Default key hash.")),
  donId: Type.String(),
  contracts: Type.Object(
    {
      vrfCoordinator: Type.Optional(hex("VRFCoordinatorV2, or VRFCoordinatorV2_5.")),
      functionsRouter: Type.Optional(hex("FunctionsRouter.")),
      link: Type.Optional(hex("LINK token.")),
    },
    { description: "Addresses by role." },
  ),
  env: Type.String({ description: "The same values as environment variables, one per line." }),
  sampleContract: Type.Optional(
    Type.String({
      description: "Solidity of a consumer with these values; absent until there are subscriptions.",
    }),
  ),
});

/** Balances of a dapp's subscriptions on one network. */
export const SubscriptionBalances = Type.Object({
  network: Type.String(),
  vrfJuels: juels("Balance of the VRF subscription"),
  vrfWei: Type.String({
    description:
      "Coin on the VRF subscription, in wei: random words are paid for from it where `vrf.nativePayment` is true. 0 before VRF v2.5.",
  }),
  functionsJuels: juels("Balance of the Functions subscription, less what is reserved for open requests"),
});

/** A contract that is linked to a dapp's subscriptions. */
export const LinkedConsumer = Type.Object({
  network: Type.String(),
  address: hex("Checksummed address."),
  onChain: nullable(
    Type.Object({ vrf: Type.Boolean(), functions: Type.Boolean() }),
    "The subscriptions that it is linked to on chain; `null` if the chain could not be reached.",
  ),
  linkedAt: Type.Optional(time("When the service linked it, if known.")),
  transactionHash: Type.Optional(hex("The transaction that linked it.")),
});

export const ConsumerList = Type.Object({
  linked: Type.Array(LinkedConsumer),
});

/** What all dapps requested in one hour. */
export const ActiveHour = Type.Object({
  from: time("Beginning of the hour."),
  requests: Type.Integer(),
  failed: Type.Integer(),
});

export const Activity = Type.Object({
  hours: Type.Array(ActiveHour, { description: "The last 24 hours, oldest first." }),
  maxCounted: Type.Integer({
    description: "Counting stops here: an hour with this many requests may have had more.",
  }),
});

/** A problem that keeps a preset from being served. */
export const PresetProblem = Type.Object({
  preset: Type.String({ description: "Name of the preset's folder." }),
  file: Type.String({
    description:
      "Path relative to the folder of all presets, such as `range/preset.json`; the preset's name if it is about the folder itself.",
  }),
  line: Type.Optional(
    Type.Integer({ description: "1-based; absent if the problem concerns the whole file or folder." }),
  ),
  column: Type.Optional(Type.Integer({ description: "1-based, in UTF-16 code units." })),
  reason: Type.String({ description: "One sentence without a full stop." }),
});

/** An account that holds coin on every embedded chain from the first block on. Its key is public. */
export const FundedAccount = Type.Object({
  address: hex("Checksummed address."),
  secretKey: hex("32 bytes."),
});

/** Facts about the service itself. */
export const ServiceInfo = Type.Object({ version: Type.String() });

/** A new dapp with its first key. */
export const NewDapp = Type.Object({ ...DappView.properties, key: NewKeyView });
