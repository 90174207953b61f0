import type { Logger } from "pino";
import { createGuardedPost } from "../../../sandbox/index.ts";
import { deriveKey } from "../../lib/secrets.ts";
import { version } from "../../lib/version.ts";
import type { Replica } from "../../requests/takeover/replicaSync.ts";
import { createLeaseKeeper } from "../../store/leaseKeeper.ts";
import type { Store } from "../../store/store.ts";
import { createDelivery } from "../../webhooks/delivery.ts";
import { createWebhooks, type Webhooks } from "../../webhooks/webhooks.ts";

/** Name of the lease of the replica that delivers; no network can have it. */
const LEASE = "/webhooks";

/** Webhooks, and the delivery of their events. */
export interface OpenWebhooks {
  readonly useCases: Webhooks;
  /** Looks for due events at once. */
  readonly wake: () => void;
  /** Begins to deliver; where several replicas serve, once this one gets the lease. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the webhooks of all dapps. */
export function openWebhooks(options: {
  readonly store: Store;
  readonly masterKey: Uint8Array;
  /** See `createHostPolicy`. */
  readonly allowHosts: readonly string[] | undefined;
  readonly replica: Pick<Replica, "id" | "bus"> | undefined;
  readonly log: Logger;
}): OpenWebhooks {
  const { store, allowHosts = [], replica, log } = options;
  const sealingKey = deriveKey(options.masterKey, "webhook secrets");
  const onError = (error: unknown): void => log.warn({ err: error }, "webhooks: delivering failed; retrying");
  const post = createGuardedPost({ allowHosts, userAgent: `Tyche/${version} (webhooks)` });
  const delivery = createDelivery({ store, post, sealingKey, onError });
  const wake = (): void => delivery.wake();
  const useCases = createWebhooks({ store, post, sealingKey, wake });
  if (replica === undefined)
    return {
      useCases,
      wake,
      start: async () => delivery.start(),
      close: () => delivery.stop(),
    };
  const { id, bus } = replica;
  const keeper = createLeaseKeeper({
    db: store.db,
    network: LEASE,
    replica: id,
    onTaken: async (fence) => delivery.start(fence),
    onLost: () => delivery.stop({ atOnce: true }),
    onLeave: () => delivery.stop(),
    onGivenBack: () => bus.tell({ kind: "free", network: LEASE }),
    onError,
  });
  const stopListening = bus.listen((message) => {
    if (message.kind === "free" && message.network === LEASE) keeper.look().catch(onError);
  });
  return {
    useCases,
    wake,
    start: () => keeper.look(),
    async close() {
      stopListening();
      await keeper.close();
    },
  };
}
