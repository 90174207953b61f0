import type { Replica } from "../../requests/replica.ts";
import { createLeaseKeeper } from "../../store/leaseKeeper.ts";
import type { WakeLoop } from "../../lib/wakeLoop.ts";
import { fenceWrites, type Fence } from "../../store/leases.ts";
import type { Store } from "../../store/store.ts";

/** Work that one replica does for all. */
export interface SharedWork {
  /** Begins; where several replicas serve, once this one gets the lease. */
  start(): Promise<void>;
  /** Has it look at once, if this process does it. */
  readonly wake: () => void;
  close(): Promise<void>;
}

/** Use cases, and the work of one replica that they lead to. */
export interface WithSharedWork<UseCases> extends SharedWork {
  readonly useCases: UseCases;
}

/**
 * Does work in this process; where several replicas serve, while this one has the lease.
 *
 * @param begin is given the store, which refuses to write once another replica works.
 */
export function onOneReplica(
  begin: (store: Store) => WakeLoop,
  options: {
    readonly store: Store;
    /** No network can have its name: it contains a slash. */
    readonly lease: string;
    readonly replica: Pick<Replica, "id" | "bus"> | undefined;
    readonly onError: (error: unknown) => void;
  },
): SharedWork {
  const { store, lease, replica, onError } = options;
  let running: WakeLoop | undefined;
  const start = async (fence?: Fence): Promise<void> => void (running ??= begin(fenceWrites(store, fence)));
  const stop = async (atOnce: boolean): Promise<void> => {
    const last = running;
    running = undefined;
    await last?.stop({ atOnce });
  };
  const wake = (): void => running?.wake();
  if (replica === undefined) return { start: () => start(), wake, close: () => stop(false) };
  const keeper = createLeaseKeeper({
    db: store.db,
    network: lease,
    replica,
    onTaken: start,
    // Another replica may work already.
    onLost: () => stop(true),
    onLeave: () => stop(false),
    onError,
  });
  return { start: () => keeper.look(), wake, close: () => keeper.close() };
}
