import type { Replica } from "../../requests/takeover/replicaSync.ts";
import { createLeaseKeeper } from "../../store/leaseKeeper.ts";
import type { Fence } from "../../store/leases.ts";
import type { Store } from "../../store/store.ts";

/** Work that one replica does for all. */
export interface SharedWork {
  /** @param fence prevents this process from writing once another replica works. */
  start(fence?: Pick<Fence, "assertHeld">): void;
  /** `atOnce`: breaks off what is under way, because another replica may work already. */
  stop(options?: { readonly atOnce?: boolean }): Promise<void>;
}

/** Does work in this process; where several replicas serve, while this one has the lease. */
export function onOneReplica(
  work: SharedWork,
  options: {
    readonly store: Store;
    /** No network can have its name: it contains a slash. */
    readonly lease: string;
    readonly replica: Pick<Replica, "id" | "bus"> | undefined;
    readonly onError: (error: unknown) => void;
  },
): { start(): Promise<void>; close(): Promise<void> } {
  const { store, lease, replica, onError } = options;
  if (replica === undefined) return { start: async () => work.start(), close: () => work.stop() };
  const { id, bus } = replica;
  const keeper = createLeaseKeeper({
    db: store.db,
    network: lease,
    replica: id,
    onTaken: async (fence) => work.start(fence),
    onLost: () => work.stop({ atOnce: true }),
    onLeave: () => work.stop(),
    onGivenBack: () => bus.tell({ kind: "free", network: lease }),
    onError,
  });
  const stopListening = bus.listen((message) => {
    if (message.kind === "free" && message.network === lease) keeper.look().catch(onError);
  });
  return {
    start: () => keeper.look(),
    async close() {
      stopListening();
      await keeper.close();
    },
  };
}
