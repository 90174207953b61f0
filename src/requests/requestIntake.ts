import type { SubscriptionReader } from "../dapps/subscriptionReads.ts";
import type { Subscriptions } from "../dapps/subscriptions.ts";
import type { OpenRequest } from "./openRequest.ts";
import type { PresetSource } from "./accept/sources.ts";

/** What the use cases need from one network, whether this process dispatches on it or another replica does. */
export interface RequestIntake {
  readonly subscriptions: SubscriptionReader;
  /** Starts processing a stored request. */
  take(request: OpenRequest): void;
  /** Ensures that a preset's source is on chain before its first use. */
  storeSource(source: PresetSource): Promise<void>;
  readonly setSecretsSigner: Subscriptions["setSecretsSigner"];
  /** Explains in one sentence why a request isn't making progress; `null` when it has ended. Queries the chain, and never rejects. */
  explain(request: OpenRequest): Promise<string | null>;
  /** The latest periodic explanation of an old request; `undefined` if there is none. */
  explained(id: string): string | undefined;
  /** Number of requests that no transaction carries yet. */
  queued(): number;
}
