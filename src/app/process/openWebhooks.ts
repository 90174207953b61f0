import type { Logger } from "pino";
import { createGuardedPost } from "../../../sandbox/index.ts";
import { deriveKey } from "../../lib/seal.ts";
import { version } from "../../lib/version.ts";
import type { Replica } from "../../requests/replica.ts";
import type { Store } from "../../store/store.ts";
import { startDelivery } from "../../webhooks/delivery.ts";
import { createWebhooks, type Webhooks } from "../../webhooks/webhooks.ts";
import { onOneReplica, type WithSharedWork } from "./oneReplica.ts";

/** Webhooks, and the delivery of their events. */
export type OpenWebhooks = WithSharedWork<Webhooks>;

/** Opens the webhooks of all dapps. */
export function openWebhooks(options: {
  readonly store: Store;
  readonly masterKey: Uint8Array;
  /** Returns the address of this service for callers, without a trailing slash. */
  readonly baseUrl: () => string;
  /** See `createHostPolicy`. */
  readonly allowHosts: readonly string[] | undefined;
  readonly replica: Pick<Replica, "id" | "bus"> | undefined;
  readonly log: Logger;
}): OpenWebhooks {
  const { store, baseUrl, allowHosts = [], replica, log } = options;
  const sealingKey = deriveKey(options.masterKey, "webhook secrets");
  const onError = (error: unknown): void => log.warn({ err: error }, "webhooks: delivering failed; retrying");
  const post = createGuardedPost({ allowHosts, userAgent: `Tyche/${version} (webhooks)` });
  const delivery = onOneReplica((fenced) => startDelivery({ store: fenced, post, sealingKey, onError }), {
    store,
    lease: "/webhooks",
    replica,
    onError,
  });
  const useCases = createWebhooks({ store, post, sealingKey, baseUrl, wake: () => delivery.wake() });
  return { useCases, ...delivery };
}
