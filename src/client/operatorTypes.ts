import type { Hex, NetworkReadiness } from "./types.ts";

export type Facility = "presets" | "functions";

/** A customer's application: it has API keys and its own subscriptions on every network. */
export interface DappView {
  readonly id: string;
  readonly name: string;
  readonly facilities: readonly Facility[];
  /** ISO 8601. */
  readonly createdAt: string;
}

/** An API key, without the key itself. */
export interface KeyView {
  readonly id: string;
  /** Label chosen by its owner; may be empty. */
  readonly name: string;
  /** Last four characters; `null` once the key is revoked, because it is then erased. */
  readonly ending: string | null;
  readonly createdAt: string;
  /** Time of the last call with this key, to the minute; `null` if never used. */
  readonly lastUsedAt: string | null;
  /** How many requests calls with this key may make per day (UTC); `null` for no limit. */
  readonly dailyLimit: number | null;
  readonly revokedAt: string | null;
}

/** An API key as it is shown on creation. */
export interface NewKeyView extends KeyView {
  readonly apiKey: string;
}

/** The values a consumer contract on one network is deployed with. */
export interface NetworkConfigView {
  readonly network: string;
  readonly title: string;
  readonly chainId: number;
  readonly rpcUrl?: string;
  /** Decimal; absent until the service has created the subscriptions, shortly after the dapp. */
  readonly vrfSubscriptionId?: string;
  readonly functionsSubscriptionId?: string;
  readonly keyHash?: Hex;
  readonly donId: string;
  readonly contracts: {
    readonly vrfCoordinator?: Hex;
    readonly functionsRouter?: Hex;
    readonly link?: Hex;
  };
  /** The same values as environment variables, one per line. */
  readonly env: string;
  /** Solidity source of a consumer with these values; absent until the subscriptions exist. */
  readonly sampleContract?: string;
}

/** Balances of a dapp's subscriptions on one network, decimal: LINK in juels (1e-18 LINK), coin in wei. */
export interface SubscriptionBalances {
  readonly network: string;
  readonly vrfJuels: string;
  /** Coin on the subscription for random words; 0 before VRF v2.5. */
  readonly vrfWei: string;
  /** Excludes what is reserved for requests in flight. */
  readonly functionsJuels: string;
}

/** A contract that is or was linked to a dapp's subscriptions. */
export interface LinkedConsumer {
  readonly network: string;
  readonly address: Hex;
  /** Which of the two subscriptions lists it on chain; `null` if the chain could not be queried. */
  readonly onChain: { readonly vrf: boolean; readonly functions: boolean } | null;
  /** When the service linked it and in which transaction, if known. */
  readonly linkedAt?: string;
  readonly transactionHash?: Hex;
}

export interface ConsumerList {
  readonly linked: readonly LinkedConsumer[];
}

/** What all dapps requested in one hour. */
export interface ActiveHour {
  /** Start of the hour, ISO 8601. */
  readonly from: string;
  readonly requests: number;
  readonly failed: number;
}

export interface Activity {
  /** The last 24 hours, oldest first. */
  readonly hours: readonly ActiveHour[];
  /** Counting stops here: an hour with this many requests may have had more. */
  readonly maxCounted: number;
}

/** A problem that keeps a preset from being served. */
export interface PresetProblem {
  readonly preset: string;
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly reason: string;
}

/** An account that holds coin on every embedded chain from the first block on. Its key is public. */
export interface FundedAccount {
  readonly address: Hex;
  readonly secretKey: Hex;
}

/** The service's readiness, as in `GET /readyz`. */
export interface Readiness {
  readonly ready: boolean;
  readonly networks: Readonly<Record<string, NetworkReadiness>>;
}

/** Facts about the service itself. */
export interface ServiceInfo {
  readonly version: string;
}
