import type { Beacon, Facility, KeyAccess } from "../domain/vocabulary.ts";

/** A customer's application, which an API key stands for. */
export interface Dapp {
  readonly id: string;
  readonly name: string;
  /** Identifies the key without revealing it: fit for logs, rate limits and metrics. */
  readonly keyId: string;
  /** What its owner calls the key. Default: it has no name. */
  readonly keyName?: string;
  /** Requests that calls with the key may make per day (UTC). Default: no limit. */
  readonly keyDailyLimit?: number;
  /** What calls with the key may do. Default: everything that a key may. */
  readonly keyAccess?: KeyAccess;
  readonly facilities: readonly Facility[];
  /** What its presets' words also follow from where a call doesn't say it. Default: what the network's do. */
  readonly beacon?: Beacon;
}
