import { withDeadline } from "../lib/deadline.ts";
import type { StoredSubscription } from "../store/chainRecords.ts";
import type { Subscriptions } from "./subscriptions.ts";

/** A page shows what has arrived by then, whichever chain hangs. */
const DEADLINE_MS = 1_500;

/** A network on which dapps have subscriptions, read through some of their methods. */
export interface SubscribedNetwork<Reads extends keyof Subscriptions> {
  /** `undefined` until the network serves. */
  intake(): { readonly subscriptions: Pick<Subscriptions, "find" | Reads> } | undefined;
}

/**
 * Reads something about a dapp's subscriptions from the chains, by network. A network is absent while it doesn't serve or can't be
 * reached, or until the subscriptions exist.
 */
export async function readByNetwork<Reads extends keyof Subscriptions, Value>(
  networks: ReadonlyMap<string, SubscribedNetwork<Reads>>,
  dappId: string,
  read: (subscriptions: Pick<Subscriptions, Reads>, subscription: StoredSubscription) => Promise<Value>,
): Promise<ReadonlyMap<string, Value>> {
  const entries = await Promise.all(
    [...networks].map(async ([name, network]) => {
      const subscriptions = network.intake()?.subscriptions;
      const subscription = subscriptions?.find(dappId);
      if (subscriptions === undefined || subscription === undefined) return [];
      return withDeadline(read(subscriptions, subscription), DEADLINE_MS).then(
        (value) => [[name, value] as const],
        () => [],
      );
    }),
  );
  return new Map(entries.flat());
}
