import type { Hex, NetworkReadiness } from "./types.ts";

export type Facility = "presets" | "functions";

/** An application of a customer: it has API keys and, on every network, subscriptions of its own. */
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
  /** What its owner calls it; may be empty. */
  readonly name: string;
  /** Last four characters; `null` once it is revoked: it is erased then. */
  readonly ending: string | null;
  readonly createdAt: string;
  /** When a call came with it last, to the minute; `null` for never. */
  readonly lastUsedAt: string | null;
  /** Requests that calls with it may make on a day (UTC); `null` for any number. */
  readonly dailyLimit: number | null;
  readonly revokedAt: string | null;
}

/** An API key as it is shown on creation. */
export interface NewKeyView extends KeyView {
  readonly apiKey: string;
}

/** What a consumer contract on one network is deployed with. */
export interface NetworkConfigView {
  readonly network: string;
  readonly title: string;
  readonly chainId: number;
  readonly rpcUrl?: string;
  /** Decimal; absent until the service has made the subscriptions, a moment after the dapp. */
  readonly vrfSubscriptionId?: string;
  readonly functionsSubscriptionId?: string;
  readonly keyHash?: Hex;
  readonly donId: string;
  readonly contracts: {
    readonly vrfCoordinator?: Hex;
    readonly functionsRouter?: Hex;
    readonly link?: Hex;
  };
  /** The same as environment variables, a line each. */
  readonly env: string;
  /** Solidity of a consumer with these values; absent until there are subscriptions. */
  readonly sampleContract?: string;
}

/** What a dapp's subscriptions on one network hold: juels (1e-18 LINK), in decimal. */
export interface SubscriptionBalances {
  readonly network: string;
  readonly vrfJuels: string;
  /** Without what is set aside for requests under way. */
  readonly functionsJuels: string;
}

/** A contract that is linked to a dapp's subscriptions, or was. */
export interface LinkedConsumer {
  readonly network: string;
  readonly address: Hex;
  /** On which of the two subscriptions the chain has it; `null`: the chain could not be asked. */
  readonly onChain: { readonly vrf: boolean; readonly functions: boolean } | null;
  /** When and by which transaction the service linked it, where that is known. */
  readonly linkedAt?: string;
  readonly transactionHash?: Hex;
}

export interface ConsumerList {
  readonly linked: readonly LinkedConsumer[];
}

/** What all dapps asked for in one hour. */
export interface ActiveHour {
  /** Its beginning, ISO 8601. */
  readonly from: string;
  readonly requests: number;
  readonly failed: number;
}

export interface Activity {
  /** The last 24 hours, oldest first. */
  readonly hours: readonly ActiveHour[];
  /** An hour with so many has that many or more: nobody counts on. */
  readonly maxCounted: number;
}

/** Something that keeps a preset from being served. */
export interface PresetProblem {
  readonly preset: string;
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly reason: string;
}

/** An account that holds coin on every embedded chain from its first block on. Everybody knows its key. */
export interface FundedAccount {
  readonly address: Hex;
  readonly secretKey: Hex;
}

/** How the service stands: `GET /readyz`. */
export interface Readiness {
  readonly ready: boolean;
  readonly networks: Readonly<Record<string, NetworkReadiness>>;
}

/** What the service is. */
export interface ServiceInfo {
  readonly version: string;
}
