import { repeat } from "../lib/repeat.ts";
import {
  LeaseLostError,
  assertLeaseHeld,
  findLease,
  giveLeaseBack,
  renewLease,
  takeLease,
} from "./leases.ts";
import type { Fence, Lease } from "./leases.ts";
import type { Queryable } from "./store.ts";

/** How long a lease lasts without a renewal: with the look after it, it passes on within 5 seconds of the holder's death. */
const LASTS_MS = 4_000;
const RENEW_INTERVAL_MS = 1_000;
/** Between looks whether the lease is free. */
const LOOK_INTERVAL_MS = 500;
/** After a take-over that failed: another replica may do better. */
const PAUSE_MS = 2_000;

/** Takes, renews and gives back one network's lease for one replica. */
export interface LeaseKeeper {
  /** Looks at once whether the lease is free, and takes it then. Throws what `onTaken` throws. */
  look(): Promise<void>;
  /** Who holds the lease, as far as it is known here, and whether that is this replica. */
  state(): { readonly holder?: string; readonly isHere: boolean };
  /** Lets `onLeave` end, and gives the lease back. Idempotent. */
  close(): Promise<void>;
}

/** Options of {@link createLeaseKeeper}. */
export interface LeaseKeeperOptions {
  readonly db: Queryable;
  readonly network: string;
  /** Id of this replica. */
  readonly replica: string;
  /** Begins to dispatch. Where it rejects, the lease is given back, and tried for again later. */
  readonly onTaken: (fence: Fence) => Promise<void>;
  /** Ends what `onTaken` began: another replica dispatches, or may. The lease is not tried for before it has ended. */
  readonly onLost: () => Promise<void>;
  /** Ends what `onTaken` began while the lease still holds. */
  readonly onLeave: () => Promise<void>;
  /** Told when the lease was given back: others may take it now. */
  readonly onGivenBack: () => void;
  readonly onError: (error: unknown) => void;
  /** Default 4,000. */
  readonly lastsMs?: number;
}

/** A lease that this replica took. */
interface Holding {
  readonly lease: Lease;
  /** When the last renewal that succeeded was begun. */
  since: Moment;
}

/** A moment by two clocks: the first stands still while the machine is suspended, the second may be set. */
type Moment = readonly [monotonicMs: number, wallMs: number];

/** Creates the keeper. It begins to look, again and again, with the first {@link LeaseKeeper.look}. */
export function createLeaseKeeper(options: LeaseKeeperOptions): LeaseKeeper {
  const { db, network, replica, onError, lastsMs = LASTS_MS } = options;
  let held: Holding | undefined;
  let holder: string | undefined;
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
    options.onGivenBack();
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

  const tryOnce = async (): Promise<void> => {
    if (held !== undefined || leaving !== undefined || Date.now() < pausedUntil) return;
    const stored = await findLease(db, network);
    holder = stored?.isLive ? stored.holder : undefined;
    if (holder !== undefined) return;
    const asked = now();
    const lease = await takeLease(db, { network, holder: replica, lastsMs });
    if (lease === undefined) return;
    const mine = (held = { lease, since: asked });
    holder = replica;
    try {
      await options.onTaken(fenceOf(mine));
    } catch (error) {
      pausedUntil = Date.now() + PAUSE_MS;
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
        stops.push(repeat(look, LOOK_INTERVAL_MS, onError), repeat(renew, RENEW_INTERVAL_MS, onError));
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
