import { repeat } from "../lib/repeat.ts";
import type { Bus } from "./bus.ts";
import {
  LeaseLostError,
  assertLeaseHeld,
  findLease,
  giveLeaseBack,
  renewLease,
  takeLease,
  type Fence,
  type Lease,
  type StoredLease,
} from "./leases.ts";
import type { Queryable } from "./queryable.ts";

/** How long a lease lasts without renewal. With the polling interval it passes on within 5 seconds of its holder's death. */
const LASTS_MS = 4_000;
const RENEW_INTERVAL_MS = 1_000;
/** Interval between checks whether the lease is free. */
const LOOK_INTERVAL_MS = 500;
/** A lease seen unchanged for this much longer than it lasts has no live holder. */
const UNRENEWED_LEEWAY_MS = 1_000;
/** Pause after a failed takeover: another replica may succeed. */
const PAUSE_MS = 2_000;

/** Takes, renews and releases one network's lease for one replica. */
export interface LeaseKeeper {
  /** Checks at once whether the lease is free, and takes it if so. Throws what `onTaken` throws. */
  look(): Promise<void>;
  /** Returns the lease's last known holder, and whether that is this replica. */
  state(): { readonly holder?: string; readonly isHere: boolean };
  /** Waits for `onLeave`, then releases the lease. Idempotent. */
  close(): Promise<void>;
}

export interface LeaseKeeperOptions {
  readonly db: Queryable;
  readonly network: string;
  /** This replica; others hear on the bus when it releases the lease. */
  readonly replica: { readonly id: string; readonly bus: Pick<Bus, "tell" | "listen"> };
  /** Starts dispatching. If it rejects, the lease is released, and tried for again later. */
  readonly onTaken: (fence: Fence) => Promise<void>;
  /** Stops what `onTaken` started: another replica dispatches, or may. The keeper doesn't try for the lease again until this resolves. */
  readonly onLost: () => Promise<void>;
  /** Stops what `onTaken` started while the lease is still held. */
  readonly onLeave: () => Promise<void>;
  readonly onError: (error: unknown) => void;
  /** Default 4,000. */
  readonly lastsMs?: number;
}

/** A lease that this replica took. */
interface Holding {
  readonly lease: Lease;
  /** When the last successful renewal started. */
  since: Moment;
}

/** A point in time by two clocks: the first stops while the machine is suspended, the second may be adjusted. */
type Moment = readonly [monotonicMs: number, wallMs: number];

/** Creates the keeper. With the first {@link LeaseKeeper.look} it starts polling, and hears when another replica releases the lease. */
export function createLeaseKeeper(options: LeaseKeeperOptions): LeaseKeeper {
  const { db, network, replica, onError, lastsMs = LASTS_MS } = options;
  let held: Holding | undefined;
  let holder: string | undefined;
  /** The lease as last read, and since when it has been the same, by `performance.now()`. */
  let seen: { readonly lease: StoredLease; readonly sinceMs: number } | undefined;
  let looking: Promise<void> | undefined;
  let leaving: Promise<void> | undefined;
  let pausedUntil = 0;
  let closing: Promise<void> | undefined;
  const stops: (() => void)[] = [];

  const isLive = (mine: Holding): boolean => held === mine && elapsedMs(mine.since) < lastsMs;

  const lose = (mine: Holding, finish: () => Promise<void> = async () => {}): void => {
    if (held !== mine) return;
    held = undefined;
    holder = undefined;
    const opening = looking;
    leaving = Promise.resolve(opening)
      .catch(() => {})
      .then(() => options.onLost())
      .then(finish)
      .catch(onError)
      .finally(() => (leaving = undefined));
  };

  const giveBack = async ({ lease }: Holding): Promise<void> => {
    await giveLeaseBack(db, lease).catch(onError);
    replica.bus.tell({ kind: "free", network });
  };

  const fenceOf = (mine: Holding): Fence => ({
    async assertHeld(transaction) {
      if (held !== mine) throw new LeaseLostError(network);
      try {
        await assertLeaseHeld(transaction, mine.lease);
      } catch (error) {
        if (error instanceof LeaseLostError) lose(mine);
        throw error;
      }
    },
    assertLive() {
      if (isLive(mine)) return;
      lose(mine);
      throw new LeaseLostError(network);
    },
    abandon: () => lose(mine, () => giveBack(mine)),
  });

  const renew = async (): Promise<void> => {
    const mine = held;
    if (mine === undefined) return;
    const asked = now();
    try {
      if (!(await renewLease(db, mine.lease, lastsMs))) lose(mine);
      else if (held === mine) mine.since = asked;
    } catch (error) {
      if (!isLive(mine)) lose(mine);
      throw error;
    }
  };

  /**
   * Whether the holder has not renewed the stored lease for longer than it lasts, by this process's clock: the database's may have been set
   * back, and would then keep a dead holder's lease for as long.
   */
  const isUnrenewed = (lease: StoredLease): boolean => {
    const now = performance.now();
    const isSame = seen?.lease.token === lease.token && seen.lease.expiresAt === lease.expiresAt;
    if (!isSame) seen = { lease, sinceMs: now };
    return isSame && now - seen!.sinceMs > lastsMs + UNRENEWED_LEEWAY_MS;
  };

  const tryOnce = async (): Promise<void> => {
    if (held !== undefined || leaving !== undefined || performance.now() < pausedUntil) return;
    const stored = await findLease(db, network);
    const unrenewed = stored !== undefined && isUnrenewed(stored) ? stored : undefined;
    holder = stored?.isLive && unrenewed === undefined ? stored.holder : undefined;
    if (holder !== undefined) return;
    const asked = now();
    const lease = await takeLease(db, { network, holder: replica.id, lastsMs, unrenewed });
    if (lease === undefined) return;
    const mine = (held = { lease, since: asked });
    holder = replica.id;
    try {
      await options.onTaken(fenceOf(mine));
    } catch (error) {
      pausedUntil = performance.now() + PAUSE_MS;
      lose(mine);
      await giveBack(mine);
      throw error;
    }
  };

  const look = async (): Promise<void> => {
    if (closing !== undefined) return;
    looking ??= tryOnce().finally(() => (looking = undefined));
    await looking;
  };

  const close = async (): Promise<void> => {
    stops.shift()?.();
    await looking?.catch(() => {});
    await leaving;
    if (held !== undefined) await options.onLeave();
    for (const stop of stops) stop();
    const last = held;
    held = undefined;
    if (last !== undefined) await giveBack(last);
  };

  return {
    async look() {
      if (stops.length === 0 && closing === undefined)
        stops.push(
          repeat(look, LOOK_INTERVAL_MS, onError),
          repeat(renew, RENEW_INTERVAL_MS, onError),
          replica.bus.listen((message) => {
            if (message.kind === "free" && message.network === network) look().catch(onError);
          }),
        );
      await look();
    },
    state: () => ({ isHere: held !== undefined, ...(holder === undefined ? {} : { holder }) }),
    close: () => (closing ??= close()),
  };
}

function now(): Moment {
  return [performance.now(), Date.now()];
}

function elapsedMs([monotonicMs, wallMs]: Moment): number {
  const [currentMonotonicMs, currentWallMs] = now();
  return Math.max(currentMonotonicMs - monotonicMs, currentWallMs - wallMs);
}
