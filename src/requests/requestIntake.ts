import type { SubscriptionReader } from "../dapps/subscriptionReads.ts";
import type { OpenRequest } from "./openRequest.ts";
import type { SourcePrefix } from "./sources.ts";

/** What the use cases need of one network, whether this process takes requests to its chain or another replica does. */
export interface RequestIntake {
  readonly subscriptions: SubscriptionReader;
  /** Starts on a stored request. */
  take(request: OpenRequest): void;
  /** Sees that a preset's source is on the chain ahead of its first use. */
  storeSource(prefix: SourcePrefix): Promise<void>;
  /** Says in one sentence why a request is not further; `null` when it has ended. Asks the chain, and never rejects. */
  explain(request: OpenRequest): Promise<string | null>;
  /** What {@link explain} said of an old request lately, `undefined` when nobody asked yet. */
  explained(id: string): string | undefined;
  /** Requests that no transaction carries yet. */
  queued(): number;
}
