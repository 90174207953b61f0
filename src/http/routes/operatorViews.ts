import { Type, type Static } from "typebox";
import { FUNDED_ACCOUNTS } from "../../dapps/faucet.ts";
import type { DappDirectory, KeyView as OwnKeyView, LiveKeyView } from "../../dapps/dapps.ts";

const nullable = <T extends ReturnType<typeof Type.String> | ReturnType<typeof Type.Integer>>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const time = (description: string) => Type.String({ format: "date-time", description });
const juels = (of: string) => Type.String({ description: `${of}, in juels (1e-18 LINK).` });

export type DappView = Static<typeof DappView>;
export const DappView = Type.Object({
  id: Type.String({ description: "Identifier: `dapp_` and 26 characters." }),
  name: Type.String(),
  facilities: Type.Array(Type.Enum(["presets", "functions"]), { description: "What it may use." }),
  createdAt: time("When it was created."),
});

export type KeyView = Static<typeof KeyView>;
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
});

export type NewKeyView = Static<typeof NewKeyView>;
export const NewKeyView = Type.Object({
  ...KeyView.properties,
  apiKey: Type.String({ description: "The key itself, for the `Authorization` header. Keep it secret." }),
});

export const NetworkConfigView = Type.Object({
  network: Type.String(),
  title: Type.String(),
  chainId: Type.Integer(),
  rpcUrl: Type.Optional(Type.String()),
  vrfSubscriptionId: Type.Optional(
    Type.String({ description: "Decimal; absent until the service has created the subscriptions." }),
  ),
  functionsSubscriptionId: Type.Optional(Type.String()),
  keyHash: Type.Optional(Type.String()),
  donId: Type.String(),
  contracts: Type.Record(Type.String(), Type.String(), { description: "Addresses by role." }),
  env: Type.String({ description: "The same values as environment variables, one per line." }),
  sampleContract: Type.Optional(
    Type.String({
      description: "Solidity of a consumer with these values; absent until there are subscriptions.",
    }),
  ),
});

export const BalancesView = Type.Object({
  network: Type.String(),
  vrfJuels: juels("Balance of the VRF subscription"),
  vrfWei: Type.String({
    description:
      "Coin on the VRF subscription, in wei: random words are paid for from it where `vrf.nativePayment` is true. 0 before VRF v2.5.",
  }),
  functionsJuels: juels("Balance of the Functions subscription, less what is reserved for open requests"),
});

export type ConsumersView = Static<typeof ConsumersView>;
export const ConsumersView = Type.Object({
  linked: Type.Array(
    Type.Object({
      network: Type.String(),
      address: Type.String(),
      onChain: Type.Union([Type.Object({ vrf: Type.Boolean(), functions: Type.Boolean() }), Type.Null()], {
        description:
          "The subscriptions that it is linked to on chain; `null` if the chain could not be reached.",
      }),
      linkedAt: Type.Optional(time("When the service linked it, if known.")),
      transactionHash: Type.Optional(Type.String({ description: "The transaction that linked it." })),
    }),
  ),
});

export const ActivityView = Type.Object({
  hours: Type.Array(
    Type.Object({ from: time("Beginning of the hour."), requests: Type.Integer(), failed: Type.Integer() }),
    { description: "The last 24 hours, oldest first." },
  ),
  maxCounted: Type.Integer({
    description: "Counting stops here: an hour with this many requests may have had more.",
  }),
});

export const PresetProblemView = Type.Object({
  preset: Type.String({ description: "Name of the preset's folder." }),
  file: Type.String(),
  line: Type.Optional(Type.Integer()),
  column: Type.Optional(Type.Integer()),
  reason: Type.String(),
});

export const FundedAccountView = Type.Object({ address: Type.String(), secretKey: Type.String() });

/** The accounts that hold coin on every embedded chain; their keys are public. */
export const fundedAccounts = FUNDED_ACCOUNTS.map(({ address, secretKey }) => ({ address, secretKey }));

type StoredDapp = Awaited<ReturnType<DappDirectory["get"]>>;

/** A dapp as the API shows it. */
export function viewDapp({ id, name, facilities, createdAt }: StoredDapp): DappView {
  return {
    id,
    name,
    facilities: facilities as DappView["facilities"],
    createdAt: new Date(createdAt).toISOString(),
  };
}

/** Returns a key's view without the key itself. */
export function viewKey(key: OwnKeyView): KeyView {
  const { id, name, apiKey, createdAt, lastUsedAt, revokedAt, dailyLimit } = key;
  const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
  return {
    id,
    name,
    ending: apiKey?.slice(-4) ?? null,
    createdAt: new Date(createdAt).toISOString(),
    lastUsedAt: iso(lastUsedAt),
    revokedAt: iso(revokedAt),
    dailyLimit,
  };
}

/** Returns a key's view with the key itself; for keys that are not revoked. */
export function viewNewKey(key: LiveKeyView): NewKeyView {
  return { ...viewKey(key), apiKey: key.apiKey };
}
