import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import type { StackAddresses } from "../../chainlink/stackPlan.ts";
import { createSubscriptionReads } from "../../dapps/subscriptionReads.ts";
import type { ChainClient } from "../../evm/client.ts";
import { repeat } from "../../lib/repeat.ts";
import { ChainUnavailableError } from "../../networks/chainUnavailable.ts";
import { listSubscriptions } from "../../store/chainRecords.ts";
import type { StoredSubscription } from "../../store/chainRecords.ts";
import type { Store } from "../../store/store.ts";
import { isEnded } from "../change.ts";
import type { Replica } from "./replicaSync.ts";
import type { RequestIntake } from "../requestIntake.ts";
import { findSourceId } from "../accept/sources.ts";

/** Interval between reads of newly created subscriptions. */
const LOOK_INTERVAL_MS = 1_000;
/** How long a call waits for the dispatching replica to store its preset's source, and the interval between checks for it. */
const SOURCE_WAIT_MS = 10_000;
const SOURCE_LOOK_MS = 500;

export interface FollowerIntakeOptions {
  readonly network: string;
  readonly client: Pick<ChainClient, "call">;
  readonly contracts: StackAddresses;
  readonly store: Store;
  readonly replica: Pick<Replica, "askWhy">;
  readonly onError: (error: unknown) => void;
}

/** Opens the intake of a network on which another replica dispatches: it sends nothing, and finds what that replica has stored. */
export async function openFollowerIntake(
  options: FollowerIntakeOptions,
): Promise<RequestIntake & { readonly close: () => void }> {
  const { network, client, contracts, store, replica } = options;
  let subscriptions = new Map<string, StoredSubscription>();
  const readSubscriptions = async (): Promise<void> => {
    const all = await listSubscriptions(store.db);
    subscriptions = new Map(all.flatMap((one) => (one.network === network ? [[one.dappId, one]] : [])));
  };
  await readSubscriptions();
  const stored = new Set<Hex>();

  return {
    subscriptions: {
      ...createSubscriptionReads({ client, contracts }),
      find: (dappId) => subscriptions.get(dappId),
      list: () => [...subscriptions.values()],
    },
    async setSecretsSigner() {
      throw new ChainUnavailableError(network, "another replica sends its transactions; try again");
    },
    // The dispatching replica was notified when the request was stored.
    take() {},
    async storeSource({ sourceHash: hash }) {
      const deadline = performance.now() + SOURCE_WAIT_MS;
      while (!stored.has(hash)) {
        const id = await findSourceId(client, contracts.presetConsumer, { hash });
        if (id !== 0) stored.add(hash);
        else if (performance.now() < deadline) await sleep(SOURCE_LOOK_MS);
        else
          throw new ChainUnavailableError(
            network,
            "the replica that dispatches has not stored the preset's source on the chain yet",
          );
      }
    },
    async explain(request) {
      if (isEnded(request.state)) return null;
      const why = await replica.askWhy(network, request.id);
      return why ?? request.why ?? "the replica that dispatches on its network does not say; ask again";
    },
    explained: () => undefined,
    queued: () => 0,
    close: repeat(readSubscriptions, LOOK_INTERVAL_MS, options.onError),
  };
}
